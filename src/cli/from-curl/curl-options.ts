/** curl's options (curl 8), as far as a pasted line needs them: which take a value, and what bearerd does with each. */

/** The letters of options, and the names that they are short for. */
export const LETTERS: Readonly<Record<string, string>> = {
  ...{ A: 'user-agent', b: 'cookie', c: 'cookie-jar', C: 'continue-at', d: 'data', D: 'dump-header' },
  ...{
    e: 'referer',
    E: 'cert',
    F: 'form',
    H: 'header',
    K: 'config',
    m: 'max-time',
    o: 'output',
    P: 'ftp-port',
  },
  ...{ Q: 'quote', r: 'range', t: 'telnet-option', T: 'upload-file', u: 'user', U: 'proxy-user' },
  ...{ w: 'write-out', x: 'proxy', X: 'request', y: 'speed-time', Y: 'speed-limit', z: 'time-cond' },
  ...{
    '#': 'progress-bar',
    '0': 'http1.0',
    '1': 'tlsv1',
    '2': 'sslv2',
    '3': 'sslv3',
    '4': 'ipv4',
    '6': 'ipv6',
  },
  ...{
    a: 'append',
    B: 'use-ascii',
    f: 'fail',
    g: 'globoff',
    G: 'get',
    i: 'include',
    I: 'head',
    J: 'remote-header-name',
  },
  ...{ j: 'junk-session-cookies', k: 'insecure', l: 'list-only', L: 'location', n: 'netrc', N: 'no-buffer' },
  ...{ O: 'remote-name', p: 'proxytunnel', q: 'disable', R: 'remote-time', s: 'silent', S: 'show-error' },
  ...{ v: 'verbose', Z: 'parallel', ':': 'next' },
};

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

export const WITH_VALUE = words(`
  abstract-unix-socket alt-svc aws-sigv4 cacert capath cert cert-type ciphers config connect-timeout connect-to
  continue-at cookie cookie-jar create-file-mode crlfile curves data data-ascii data-binary data-raw data-urlencode
  delegation dns-interface dns-ipv4-addr dns-ipv6-addr dns-servers doh-url dump-header ech egd-file engine etag-compare
  etag-save expect100-timeout form form-string ftp-account ftp-alternative-to-user ftp-method ftp-port
  ftp-ssl-ccc-mode happy-eyeballs-timeout-ms haproxy-clientip header hostpubmd5 hostpubsha256 hsts interface ip-tos
  ipfs-gateway json keepalive-cnt keepalive-time key key-type krb libcurl limit-rate local-port login-options mail-auth
  mail-from mail-rcpt max-filesize max-redirs max-time netrc-file noproxy oauth2-bearer output output-dir parallel-max
  pass pinnedpubkey postquote preproxy proto proto-default proto-redir proxy proxy-cacert proxy-capath proxy-cert
  proxy-cert-type proxy-ciphers proxy-crlfile proxy-header proxy-key proxy-key-type proxy-pass proxy-pinnedpubkey
  proxy-service-name proxy-tls13-ciphers proxy-tlsauthtype proxy-tlspassword proxy-tlsuser proxy-user proxy1.0 pubkey
  quote random-file range rate referer request request-target resolve retry retry-delay retry-max-time sasl-authzid
  service-name socks4 socks4a socks5 socks5-gssapi-service socks5-hostname speed-limit speed-time stderr
  telnet-option tftp-blksize time-cond tls-max tls13-ciphers tlsauthtype tlspassword tlsuser trace trace-ascii
  trace-config unix-socket upload-file url url-query user user-agent variable vlan-priority write-out`);

export const WITHOUT_VALUE = words(`
  anyauth append basic ca-native cert-status compressed compressed-ssh create-dirs crlf digest disable disable-eprt
  disable-epsv disallow-username-in-url doh-cert-status doh-insecure fail fail-early fail-with-body false-start
  form-escape ftp-create-dirs ftp-pasv ftp-pret ftp-skip-pasv-ip ftp-ssl-ccc ftp-ssl-control get globoff
  haproxy-protocol head http0.9 http1.0 http1.1 http2 http2-prior-knowledge http3 http3-only ignore-content-length
  include insecure ipv4 ipv6 junk-session-cookies keepalive list-only location location-trusted mail-rcpt-allowfails
  negotiate netrc netrc-optional next no-alpn no-buffer no-clobber no-keepalive no-npn no-progress-meter no-sessionid
  ntlm ntlm-wb parallel parallel-immediate path-as-is post301 post302 post303 progress-bar proxy-anyauth proxy-basic
  proxy-ca-native proxy-digest proxy-http2 proxy-insecure proxy-negotiate proxy-ntlm proxy-ssl-allow-beast
  proxy-ssl-auto-client-cert proxy-tlsv1 proxytunnel raw remote-header-name remote-name remote-name-all remote-time
  remove-on-error retry-all-errors retry-connrefused sasl-ir show-error show-headers silent skip-existing socks5-basic
  socks5-gssapi socks5-gssapi-nec ssl ssl-allow-beast ssl-auto-client-cert ssl-no-revoke ssl-reqd
  ssl-revoke-best-effort sslv2 sslv3 styled-output suppress-connect-headers tcp-fastopen tcp-nodelay tftp-no-options
  tlsv1 tlsv1.0 tlsv1.1 tlsv1.2 tlsv1.3 tr-encoding trace-ids trace-time use-ascii verbose xattr`);

const OTHER_LOGIN =
  'bearerd answers no challenge of this kind: give a line with a key or a token, if the API accepts one';

/** Why a line with this option is not taken, and what to do instead. */
export const REFUSED: Readonly<Record<string, string>> = {
  insecure:
    'bearerd always verifies the TLS certificate: save the certificate authority of the server in a PEM file, and give it as --cacert FILE',
  'proxy-insecure':
    'bearerd always verifies TLS certificates: add the authority of the proxy by NODE_EXTRA_CA_CERTS',
  digest: OTHER_LOGIN,
  ntlm: OTHER_LOGIN,
  'ntlm-wb': OTHER_LOGIN,
  negotiate: OTHER_LOGIN,
  anyauth: 'leave it out if the API accepts Basic: bearerd tries no other way',
  'aws-sigv4': 'bearerd does not sign requests: give a line with a key or a token, if the API accepts one',
  netrc: 'the credential stands in another file: give it as -u USER:PASSWORD',
  'netrc-file': 'the credential stands in another file: give it as -u USER:PASSWORD',
  'netrc-optional': 'the credential stands in another file: give it as -u USER:PASSWORD',
  config: 'a part of the line stands in another file: write it into the line',
  'unix-socket': 'bearerd has no upstream on a Unix socket',
  'abstract-unix-socket': 'bearerd has no upstream on a Unix socket',
  pass: 'bearerd takes a private key without a passphrase: openssl pkey -in KEY -out NEW removes it',
  engine: 'bearerd takes a private key from a PEM file only',
  tlsuser: 'bearerd has no TLS-SRP',
  tlspassword: 'bearerd has no TLS-SRP',
  next: 'it is more than one request: give one of them',
  variable: 'it has variables of curl: write the values',
};

/** About curl's own connection to the API, which bearerd makes from now on: what is not carried over is named. */
export const NOT_CARRIED = words(`
  alt-svc ca-native capath cert-status ciphers connect-to crlfile curves dns-interface dns-ipv4-addr dns-ipv6-addr
  dns-servers doh-cert-status doh-insecure doh-url ech haproxy-clientip haproxy-protocol hsts http2-prior-knowledge
  http3 http3-only interface local-port noproxy pinnedpubkey preproxy proxy-anyauth proxy-basic proxy-ca-native
  proxy-cacert proxy-capath proxy-cert proxy-cert-type proxy-ciphers proxy-crlfile proxy-digest proxy-header
  proxy-http2 proxy-key proxy-key-type proxy-negotiate proxy-ntlm proxy-pass proxy-pinnedpubkey proxy-tls13-ciphers
  proxy-tlsv1 proxy1.0 resolve socks4 socks4a socks5 socks5-hostname ssl-allow-beast ssl-auto-client-cert
  ssl-no-revoke tls-max tls13-ciphers tlsv1 tlsv1.0 tlsv1.1 tlsv1.2 tlsv1.3`);
