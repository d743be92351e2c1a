/** npm's OpenID provider, in a process of its own. Prints its issuer; `/test/answer` is the person who answers a code. */
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const server = createServer();
const groupsOf = new Map();
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'signage',
        token_endpoint_auth_method: 'none',
        grant_types: ['urn:ietf:params:oauth:grant-type:device_code'],
        redirect_uris: [],
        response_types: [],
      },
    ],
    features: { deviceFlow: { enabled: true }, devInteractions: { enabled: false } },
    claims: { openid: ['sub'], profile: ['name', 'groups'] },
    conformIdTokenClaims: false,
    findAccount: (_, accountId) => {
      const claims = { sub: accountId, name: accountId.toUpperCase(), groups: groupsOf.get(accountId) };
      return { accountId, claims: () => claims };
    },
  });
  const answer = async (query) => {
    const userCode = String(query.get('code')).replace(/\W/g, '');
    const code = await provider.DeviceCode.findByUserCode(userCode, { ignoreExpiration: true });
    const [accountId, groups = ''] = query.get('account')?.split('|') ?? [null];
    groupsOf.set(accountId, groups.split('+'));
    if (accountId === null) {
      code.error = 'access_denied';
      code.errorDescription = 'the person said no';
    } else {
      const grant = new provider.Grant({ accountId, clientId: 'signage' });
      grant.addOIDCScope('openid profile email');
      Object.assign(code, {
        accountId,
        grantId: await grant.save(),
        authTime: Math.floor(Date.now() / 1000),
        scope: 'openid profile email',
        nonce: code.params.nonce,
      });
    }
    await code.save();
  };
  const handle = provider.callback();
  server.on('request', (request, response) => {
    const url = new URL(request.url, issuer);
    if (url.pathname !== '/test/answer') return handle(request, response);
    answer(url.searchParams).then(
      () => response.end('ok'),
      (error) => response.writeHead(500).end(String(error)),
    );
  });
  console.log(issuer);
});
