import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { MODELS } from '../routes/upstream-models.ts';
import { canary, countOf } from './canaries.ts';
import { type Message, StrictReader, valuesOf } from './strict-http.ts';

/** What the configuration under test says, once more and by other means. */
export const SECRETS = {
  clientId: canary('-id'),
  clientSecret: canary('-secret+/&"é\\'),
  username: canary('@example.com'),
  password: canary('-pass word+/&"é\\'),
  apiKey: canary('-key'),
  otherKey: canary('-other-key'),
  callerKey: canary('-caller'),
};

export const SESSION_PATH = '/api/identity/v1/session';

type Rule = 'service' | 'user' | 'apiKey' | 'other' | 'none' | 'keep' | 'nobody';

/** Which credential belongs to a path as it arrives; `/rw` arrives as `/moved`. */
const RULES: readonly (readonly [string, Rule])[] = [
  ['/moved', 'apiKey'],
  ['/keys', 'apiKey'],
  ['/open', 'none'],
  ['/closed', 'nobody'],
  ['/users', 'user'],
  ['/keep', 'keep'],
  ['/rw', 'nobody'],
  ['/other', 'nobody'],
];

/** For the gateway: the same in its own words. */
export function configurationFor(upstream: string, other: string): string {
  return JSON.stringify({
    baseUrl: upstream,
    credentials: {
      token: { type: 'session', clientId: SECRETS.clientId, clientSecret: SECRETS.clientSecret },
      reports: { type: 'session', username: SECRETS.username, password: SECRETS.password },
      apiKey: { type: 'apiKey', key: SECRETS.apiKey, header: 'X-Api-Key', scheme: '' },
      elsewhere: { type: 'apiKey', key: SECRETS.otherKey, origins: [other] },
    },
    routes: [
      { prefix: '/', credential: 'token' },
      { prefix: '/keys', credential: 'apiKey' },
      { prefix: '/open', credential: 'none' },
      { prefix: '/closed', credential: 'deny' },
      { prefix: '/moved', credential: 'deny' },
      { prefix: '/users', credential: 'reports' },
      { prefix: '/keep', credential: 'token', clientAuthorization: 'keep' },
      { prefix: '/reject', credential: 'token', clientAuthorization: 'reject' },
      { prefix: '/read', credential: 'token', methods: ['GET', 'HEAD'] },
      { prefix: '/rw', credential: 'apiKey', rewrite: '/moved' },
      { prefix: '/other', credential: 'elsewhere', upstream: other },
    ],
  });
}

const under = (path: string, prefix: string) => path === prefix || path.startsWith(`${prefix}/`);

function ruleOf(path: string): Rule {
  return RULES.find(([prefix]) => under(path, prefix))?.[1] ?? 'service';
}

export interface JudgeOptions {
  /** Nothing but logins may arrive. */
  readonly closed?: boolean;
  /** The upstream of `/other` alone. */
  readonly other?: boolean;
  readonly onFault: (fault: string) => void;
  /** What is answered to a request that is in order; it has the body of the answer at hand. */
  readonly answer?: (request: Message, socket: Socket) => Buffer | undefined;
  /** The answer to a login. */
  readonly grant?: (token: string) => Buffer;
}

/** An upstream that takes strict HTTP alone, and looks at each request for its one right credential. */
export class Judge {
  readonly #options: JudgeOptions;
  readonly #issued = new Set<string>();
  readonly #server: Server;
  arrivals = 0;
  logins = 0;

  private constructor(options: JudgeOptions) {
    this.#options = options;
    this.#server = createServer({ noDelay: true }, (socket) => this.#serve(socket));
  }

  static async listening(options: JudgeOptions): Promise<Judge> {
    const judge = new Judge(options);
    await new Promise<void>((resolve) => judge.#server.listen(0, '127.0.0.1', resolve));
    return judge;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
  }

  #serve(socket: Socket): void {
    const reader = new StrictReader('request', (request) => this.#arrived(request, socket));
    socket
      .on('data', (chunk: Buffer) => {
        if (reader.tunnel) return; // Nothing that is said in a tunnel is HTTP, or ours.
        reader.push(chunk);
        if (reader.fault === undefined) return;
        this.#options.onFault(`the upstream got what is no HTTP: ${reader.fault}`);
        socket.destroy();
      })
      .on('error', () => {});
  }

  #arrived(request: Message, socket: Socket): void {
    const [method = '', target = ''] = request.startLine.split(' ');
    if (target === SESSION_PATH && method === 'POST' && valuesOf(request, 'via').length === 0) {
      socket.write(this.#logIn(request));
      return;
    }
    this.arrivals++;
    const fault = this.#faultIn(request, target);
    if (fault !== undefined) this.#options.onFault(`${fault}: ${request.head}`);
    const answer = (this.#options.answer ?? plainAnswer)(request, socket);
    if (answer !== undefined) socket.write(answer);
  }

  #logIn(request: Message): Buffer {
    this.logins++;
    const body = request.body.toString('utf8');
    const service = JSON.stringify({
      grantType: 'clientCredentials',
      clientId: SECRETS.clientId,
      clientSecret: SECRETS.clientSecret,
    });
    const user = new URLSearchParams({ username: SECRETS.username, password: SECRETS.password }).toString();
    if (body !== service && body !== user) this.#options.onFault(`a login that is none: ${body}`);
    const token = canary(`-${body === user ? 'user' : 'service'}-token-${this.logins}`);
    this.#issued.add(token);
    return (this.#options.grant ?? shortGrant)(token);
  }

  #faultIn(request: Message, target: string): string | undefined {
    if (this.#options.closed) return 'a request got past the caller key';
    const path = target.split('?')[0]!;
    if (this.#options.other) {
      return under(path, '/other') ? this.#credentialFault(request, 'other') : 'at the wrong upstream';
    }
    const rule = ruleOf(path);
    for (const [name, read] of Object.entries(MODELS)) {
      const reading = read(path);
      if (reading === undefined) continue;
      if (reading.toLowerCase().startsWith(SESSION_PATH)) return `the session path, as ${name} reads it`;
      if (ruleOf(reading) !== rule) return `${rule}, but as ${name} reads it ${ruleOf(reading)}`;
    }
    return this.#credentialFault(request, rule);
  }

  #credentialFault(request: Message, rule: Rule): string | undefined {
    const named = (name: string) =>
      request.lines.flatMap(([key, value]) => (key.replaceAll('_', '-') === name ? [value] : []));
    const [authorization, keys] = [named('authorization'), named('x-api-key')];
    const bearer = (kind: string) => {
      const token = /^Bearer (\S+)$/.exec(authorization[0] ?? '')?.[1] ?? '';
      return this.#issued.has(token) && token.includes(`-${kind}-`);
    };
    const alone = authorization.length === 1 && countOf(request.head) === 1;
    const own = authorization.length === 1 && countOf(request.head) === 0;
    const right = {
      service: () => alone && bearer('service'),
      user: () => alone && bearer('user'),
      other: () => alone && authorization[0] === `Bearer ${SECRETS.otherKey}`,
      apiKey: () =>
        keys.length === 1 &&
        keys[0] === SECRETS.apiKey &&
        authorization.length === 0 &&
        countOf(request.head) === 1,
      none: () => authorization.length === 0 && countOf(request.head) === 0,
      keep: () => (alone && bearer('service')) || own,
      nobody: () => false,
    }[rule];
    return right() ? undefined : `without its one right credential (${rule})`;
  }
}

/** Short enough for many renewals in a run. */
function shortGrant(token: string): Buffer {
  return response(200, JSON.stringify({ accessToken: token, expires_in: 6 }), 'GET');
}

export function response(status: number, body: string, method: string, ...lines: string[]): Buffer {
  const bytes = Buffer.from(body);
  const head = [
    `HTTP/1.1 ${status} Fine`,
    `X-Method: ${method}`,
    `Content-Length: ${bytes.length}`,
    ...lines,
  ];
  return Buffer.concat([
    Buffer.from(`${head.join('\r\n')}\r\n\r\n`),
    method === 'HEAD' ? Buffer.alloc(0) : bytes,
  ]);
}

function plainAnswer(request: Message): Buffer | undefined {
  const [method = '', target = ''] = request.startLine.split(' ');
  if (valuesOf(request, 'upgrade').length > 0 && !target.includes('401')) {
    const asked = valuesOf(request, 'upgrade').join(', ');
    return Buffer.from(
      `HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: ${asked}\r\n\r\n`,
      'latin1',
    );
  }
  const status = target.includes('/401') ? 401 : 200;
  return response(status, 'an answer', method);
}
