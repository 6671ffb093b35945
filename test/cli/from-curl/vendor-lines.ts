/**
 * Lines from vendors' public documents, with HOST in place of their host, and made-up keys. `sends` is the credential
 * that an API gets: the name of the header, parameter or cookie, and its value.
 */
export interface VendorLine {
  readonly of: string;
  readonly line: string;
  readonly sends: readonly [where: string, value: string];
  /** For a line that is a login: what the configuration holds. */
  readonly login?: Readonly<Record<string, string>>;
}

const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;

export const VENDOR_LINES: readonly VendorLine[] = [
  {
    of: 'payments, key as user name',
    line: 'curl HOST/v1/charges -u sk_test_4eC39HqLyjWDarjtT1zdp7dc:',
    sends: ['authorization', basic('sk_test_4eC39HqLyjWDarjtT1zdp7dc:')],
  },
  {
    of: 'code hosting',
    line: `curl -L \\
  -H "Accept: application/vnd.github+json" \\
  -H "Authorization: Bearer ghp_16C7e42F292c6912E7" \\
  -H "X-GitHub-Api-Version: 2022-11-28" \\
  HOST/user`,
    sends: ['authorization', 'Bearer ghp_16C7e42F292c6912E7'],
  },
  {
    of: 'code hosting, private token',
    line: 'curl --header "PRIVATE-TOKEN: glpat-a1b2c3d4e5f6g7h8" "HOST/api/v4/projects?per_page=5"',
    sends: ['private-token', 'glpat-a1b2c3d4e5f6g7h8'],
  },
  {
    of: 'language model',
    line: `curl HOST/v1/models \\
  -H "Authorization: Bearer $VENDOR_API_KEY"`,
    sends: ['authorization', 'Bearer from-the-environment'],
  },
  {
    of: 'another language model',
    line: `curl HOST/v1/models -H "x-api-key: sk-ant-0123456789abcdef" -H "anthropic-version: 2023-06-01"`,
    sends: ['x-api-key', 'sk-ant-0123456789abcdef'],
  },
  {
    of: 'language model, key in the query',
    line: `curl "HOST/v1beta/models?key=AIzaSyA-0123456789"`,
    sends: ['?key', 'AIzaSyA-0123456789'],
  },
  {
    of: 'weather',
    line: "curl 'HOST/data/2.5/weather?q=London,uk&appid=b6907d289e10d714a6e88b30761fae22'",
    sends: ['?appid', 'b6907d289e10d714a6e88b30761fae22'],
  },
  {
    of: 'telephony',
    line: "curl -X GET 'HOST/2010-04-01/Accounts/AC01/Messages.json' -u AC0123456789abcdef0123456789abcdef:0f1e2d3c4b5a",
    sends: ['authorization', basic('AC0123456789abcdef0123456789abcdef:0f1e2d3c4b5a')],
  },
  {
    of: 'mail',
    line: "curl -s --user 'api:key-3ax6xnjp29jd6fds4gc373sgvjxteol0' HOST/v3/domains",
    sends: ['authorization', basic('api:key-3ax6xnjp29jd6fds4gc373sgvjxteol0')],
  },
  {
    of: 'mail, server token',
    line: `curl "HOST/server" -X GET -H "Accept: application/json" -H "X-Postmark-Server-Token: 12345678-90ab-cdef"`,
    sends: ['x-postmark-server-token', '12345678-90ab-cdef'],
  },
  {
    of: 'shop',
    line: `curl -X GET "HOST/admin/api/2024-01/products.json" -H "X-Shopify-Access-Token: shpat_0123456789"`,
    sends: ['x-shopify-access-token', 'shpat_0123456789'],
  },
  {
    of: 'maps of a cloud',
    line: `curl 'HOST/maps/route?api-version=1.0' -H 'Ocp-Apim-Subscription-Key: 0123456789abcdef0123456789abcdef'`,
    sends: ['ocp-apim-subscription-key', '0123456789abcdef0123456789abcdef'],
  },
  {
    of: 'marketplace of APIs',
    line: `curl --request GET \\
	--url 'HOST/v3/forecast?days=3' \\
	--header 'x-rapidapi-host: weather.example' \\
	--header 'x-rapidapi-key: 0123456789mshabcdef'`,
    sends: ['x-rapidapi-key', '0123456789mshabcdef'],
  },
  {
    of: 'on-call',
    line: `curl -X GET --header 'Content-Type: application/json' --header 'Authorization: Token token=y_NbAkKc66ryYTWUXYEu' 'HOST/users'`,
    sends: ['authorization', 'Token token=y_NbAkKc66ryYTWUXYEu'],
  },
  {
    of: 'alerting',
    line: `curl -X GET "HOST/v2/alerts" --header "Authorization: GenieKey eb243592-faa2-4ba2"`,
    sends: ['authorization', 'GenieKey eb243592-faa2-4ba2'],
  },
  {
    of: 'identity',
    line: `curl -v -X GET \\
-H "Accept: application/json" \\
-H "Content-Type: application/json" \\
-H "Authorization: SSWS 00QCjAl4MlV-WPXM" \\
"HOST/api/v1/users/me"`,
    sends: ['authorization', 'SSWS 00QCjAl4MlV-WPXM'],
  },
  {
    of: 'chat, no scheme',
    line: `curl -H 'Authorization: lin_api_0123456789' HOST/graphql-schema`,
    sends: ['authorization', 'lin_api_0123456789'],
  },
  {
    of: 'news',
    line: `curl HOST/v2/top-headlines -G -d country=us -d apiKey=0123456789abcdef`,
    sends: ['?apiKey', '0123456789abcdef'],
  },
  {
    of: 'currencies',
    line: `curl -H "X-CMC_PRO_API_KEY: b54bcf4d-1bca-4e8e" -H "Accept: application/json" -d "start=1&limit=5" -G HOST/v1/cryptocurrency/listings/latest`,
    sends: ['x-cmc_pro_api_key', 'b54bcf4d-1bca-4e8e'],
  },
  {
    of: 'time tracking, key as user name',
    line: `curl -u 1971800d4d82861d8f2c1651fea4d212:api_token HOST/api/v9/me`,
    sends: ['authorization', basic('1971800d4d82861d8f2c1651fea4d212:api_token')],
  },
  {
    of: 'project tracker',
    line: `curl --request GET --url 'HOST/rest/api/3/myself' --user 'email@example.com:api-token-0123' --header 'Accept: application/json'`,
    sends: ['authorization', basic('email@example.com:api-token-0123')],
  },
  {
    of: 'search',
    line: `curl -s --compressed "HOST/res/v1/web/search?q=brave+search" -H "Accept: application/json" -H "Accept-Encoding: gzip" -H "X-Subscription-Token: BSA0123456789"`,
    sends: ['x-subscription-token', 'BSA0123456789'],
  },
  {
    of: 'voice',
    line: `$ curl HOST/v1/voices -H "xi-api-key: 0123456789abcdef"`,
    sends: ['xi-api-key', '0123456789abcdef'],
  },
  {
    of: 'workflow',
    line: `curl -X 'GET' 'HOST/api/v1/workflows?active=true' -H 'accept: application/json' -H 'X-N8N-API-KEY: eyJhbGciOi' | jq '.data[]'`,
    sends: ['x-n8n-api-key', 'eyJhbGciOi'],
  },
  {
    of: 'secrets',
    line: `curl --oauth2-bearer "hvs.0123456789" HOST/v1/sys/health`,
    sends: ['authorization', 'Bearer hvs.0123456789'],
  },
  {
    of: 'an intranet, by a browser',
    line: `curl 'HOST/api/me' \\
  -H 'accept: */*' \\
  -H 'sec-fetch-site: same-origin' \\
  -b 'theme=dark; JSESSIONID=ABCDEF0123' \\
  --compressed`,
    sends: ['cookie JSESSIONID', 'ABCDEF0123'],
  },
  {
    of: 'a cloud, by its command line',
    line: `curl -H "Authorization: Bearer $(echo printed-token)" HOST/compute/v1/projects`,
    sends: ['authorization', 'Bearer printed-token'],
  },
  {
    of: 'with a quote in a $-quoted key',
    line: `curl HOST/x -H $'X-Api-Key: it\\'s\\x21'`,
    sends: ['x-api-key', "it's!"],
  },
  {
    of: 'client credentials, by Basic',
    line: `curl --request POST --url HOST/oauth2/token -u client-1:s3cret-of-client -d grant_type=client_credentials -d 'scope=read write'`,
    sends: ['authorization', 'Bearer token-of-client-1'],
    login: { type: 'oauth2', scope: '"read write"' },
  },
  {
    of: 'client credentials, as JSON',
    line: `curl --request POST --url 'HOST/oauth/token' --header 'content-type: application/json' --data '{"client_id":"client-1","client_secret":"s3cret-of-client","audience":"https://api","grant_type":"client_credentials"}'`,
    sends: ['authorization', 'Bearer token-of-client-1'],
    login: { type: 'oauth2', clientAuthentication: 'body', audience: 'https://api' },
  },
  {
    of: 'the session endpoint',
    line: `curl -X POST HOST/api/identity/v1/session -H 'Content-Type: application/json' -d '{"grantType":"clientCredentials","clientId":"client-1","clientSecret":"s3cret-of-client"}'`,
    sends: ['authorization', 'Bearer token-of-client-1'],
    login: { type: 'session', clientId: 'client-1' },
  },
];
