import { openRedis, shareAddress, shareTrouble } from '../../app/sharing.ts';
import type { EngineState } from '../../base/engine-state.ts';
import type { Config } from '../../config/config.ts';
import { EXIT } from '../exit-codes.ts';
import { type Finding, failed, passed } from './check-result.ts';

/** Whether tokens could be shared, by one connection that reads and writes. None if no share is configured. */
export async function shareCheck({ share, tls }: Config): Promise<Finding[]> {
  if (share === undefined) return [];
  const about = ['share', shareAddress(share.server)] as const;
  const found = Promise.withResolvers<EngineState>();
  const onState = (state: EngineState) => {
    if (state.state !== 'connecting') found.resolve(state);
  };
  const engine = await openRedis({ share, tls, onState });
  try {
    const state = await found.promise;
    if (state.state !== 'gone') return [passed(about, 'it answers, and takes what is written')];
    const { detail, remedy } = shareTrouble(share.server, state.reason);
    const goesOn = `${detail} [${state.reason}]. Until that is mended each instance logs in by itself`;
    return [failed(about, { detail: goesOn, remedy, exitCode: EXIT.unavailable })];
  } finally {
    await engine.close();
  }
}
