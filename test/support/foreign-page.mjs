// What a page of somebody else tries. Each function runs in the browser, in that page: it sees nothing of this file.

/** Submits a form, as a page may do to any address. */
export function submitForm({ url, type }) {
  const form = document.body.appendChild(document.createElement('form'));
  Object.assign(form, { action: url, method: 'post', enctype: type });
  const fields = { name: 'stolen', kind: 'bearer', token: 'x', requester: 'a', target: 'b', message: 'c', inputs: '' };
  for (const [name, value] of Object.entries(fields)) {
    Object.assign(form.appendChild(document.createElement('input')), { name, value });
  }
  form.requestSubmit();
}

/**
 * Sends requests that a script may send without a preflight, and others. @returns what the page could read of the
 * answers
 */
export function sendScripts({ base, paths }) {
  const json = JSON.stringify({ inputs: { in: 'x' }, requester: 'a', target: 'b', message: 'c' });
  const read = (url, init) =>
    fetch(url, init).then(
      (response) => response.text(),
      () => '',
    );
  return Promise.all(
    paths.flatMap((path) => [
      read(`${base}${path}`, { method: 'POST', mode: 'no-cors', body: json }),
      read(`${base}${path}`, { method: 'POST', mode: 'no-cors' }),
      read(`${base}${path}`, { method: 'POST', mode: 'no-cors', body: new Blob([json]) }),
      read(`${base}${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: json }),
      read(`${base}${path}`, {}),
      read(`${base}${path}`, { mode: 'no-cors' }),
      Promise.resolve(navigator.sendBeacon(`${base}${path}`, json) ? '' : 'not sent'),
    ]),
  );
}

/** Makes the browser load an address for the page, in ways that do not show the page the response. */
export async function embed(url) {
  const attempts = ['img', 'script', 'iframe', 'video'].map((name) => {
    const element = document.createElement(name);
    const ended = new Promise((resolve) => {
      for (const event of ['load', 'error']) element.addEventListener(event, resolve);
    });
    element.src = url;
    document.body.append(element);
    return ended;
  });
  await Promise.all([...attempts, fetch(url, { mode: 'no-cors', method: 'HEAD' }).catch(() => undefined)]);
}

/** Navigates the browser to an address. */
export function goTo(url) {
  document.location.href = url;
}

/** Connects to the event gateway by WebSocket and by server-sent events. @returns `a frame` or `refused` for each */
export function listen({ base, protocols }) {
  const socket = new WebSocket(`${base.replace(/^http/, 'ws')}/events`, protocols);
  const source = new EventSource(`${base}/api/events`);
  return Promise.all(
    [socket, source].map(
      (it) =>
        new Promise((resolve) => {
          it.addEventListener('message', () => resolve('a frame'));
          it.addEventListener('error', () => resolve('refused'));
        }),
    ),
  );
}
