/** Names that say that a header, a parameter or a cookie holds a credential. Pure. */

const SAYS_SO =
  /(?:^|-)(?:(?:api|app|application|access|auth|account|subscription|functions?|secret|license|project|server|service|integration|rapidapi|admin)?-?(?:key|token|apikey|apitoken|authtoken|accesstoken|appkey|secret|jwt|pat|password)|auth|authorization|authentication|appid|hapikey|trackertoken|credentials?|bearer)$/;

/** With or without anything before it (`XAPIKEY`): words that stand for nothing else. */
const ENDS_SO = /(?:api|access|auth)-?(?:key|token)$|(?:secret-?key|client-?secret)$/;

/** Names of that form that hold no credential: they page, sort, or make a request unique. */
const OTHERS =
  /(?:^|-)(?:idempotency|page|next|previous|prev|continuation|sync|cursor|sort|order|group|partition|row|primary|foreign|cache|surrogate|csrf|xsrf|x-csrf|client-request|request|websocket|public|publishable|object|range|start|start-after)-?(?:key|token)$|^(?:sec|if|cache|accept|content)-/;

const SESSION_COOKIE = /sess|sid$|token|auth|jwt|login|key/i;

/** `X-CMC_PRO_API_KEY` and `apiKey` in one form: lower case, parts with a dash between them. */
function plain(name: string): string {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll(/[_.\s]+/g, '-')
    .toLowerCase();
}

export function namesCredential(name: string): boolean {
  const text = plain(name);
  return (SAYS_SO.test(text) || ENDS_SO.test(text)) && !OTHERS.test(text);
}

export function namesSession(name: string): boolean {
  return SESSION_COOKIE.test(name);
}
