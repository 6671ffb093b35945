import { burst } from './burst.ts';
import { connections } from './connections.ts';
import { idle } from './idle.ts';
import { lanes } from './lanes.ts';
import { largeBodies } from './large-bodies.ts';
import { latency } from './latency.ts';
import { memory } from './memory.ts';
import { probes } from './probes.ts';
import type { Row } from './row.ts';
import {
  saturatedDown,
  saturatedGet,
  saturatedMiddle,
  saturatedPost,
  saturatedPost8k,
  saturatedUp,
} from './saturated.ts';
import { scrub } from './scrub.ts';
import { jsonPost, smallGet } from './small-requests.ts';
import { start } from './start.ts';
import { tls } from './tls.ts';

export const ROWS: readonly Row[] = [
  saturatedGet,
  saturatedPost,
  saturatedPost8k,
  saturatedMiddle,
  saturatedDown,
  saturatedUp,
  smallGet,
  jsonPost,
  largeBodies,
  lanes,
  scrub,
  latency,
  memory,
  idle,
  probes,
  burst,
  start,
  connections,
  tls,
];
