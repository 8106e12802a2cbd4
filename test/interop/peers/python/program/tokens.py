"""Tokens of the client credentials grant, by PEER_TOKEN_URL, PEER_CLIENT_ID and PEER_CLIENT_SECRET."""

import os

import httpx

URL = os.environ.get('PEER_TOKEN_URL')


async def fetch_token():
    client = (os.environ['PEER_CLIENT_ID'], os.environ['PEER_CLIENT_SECRET'])
    async with httpx.AsyncClient(auth=client) as http:
        answer = await http.post(URL, data={'grant_type': 'client_credentials'})
    return answer.raise_for_status().json()['access_token']
