"""Words of a user in texts that frameworks wrap."""

WORDS = ('tell', 'wait', 'throw', 'recall', 'remember', 'echo')


def words_in(texts):
    """Returns the last line that selects an answer, from its selecting word on; else all texts."""
    lines = [line.strip() for text in texts for line in text.splitlines()]
    for line in reversed(lines):
        tokens = line.split(' ')
        for index, token in enumerate(tokens):
            if token in WORDS:
                return ' '.join(tokens[index:])
    return ' '.join(line for line in lines if line)
