import type { Clock } from '../base/clock.ts';
import type { EventBus } from '../base/events.ts';
import { VERSION } from '../base/version.ts';
import { annotated, filesRead } from '../config/shown/annotated.ts';
import { Tunnel } from '../forward/tunnel.ts';
import type { Watchdog } from '../forward/watchdog.ts';
import type { AdminView } from '../listen/admin-endpoints.ts';
import { Health } from '../observe/health.ts';
import type { LogLoss } from '../observe/log-output.ts';
import { createMetrics, type Metrics } from '../observe/metrics.ts';
import { processMetrics } from '../observe/process-metrics.ts';
import { type Readiness, readinessOf, type Status, statusOf } from '../observe/status.ts';
import { History } from '../observe/why/history.ts';
import type { Situation } from '../observe/why/situation.ts';
import type { RunningConfig } from './running-config.ts';
import type { Sources } from './sources.ts';

interface OverviewOptions {
  readonly clock: Clock;
  readonly events: EventBus;
  readonly sources: Sources;
  readonly watchdog: Watchdog;
  readonly running: RunningConfig;
  readonly droppedLogLines: () => number;
  readonly logLoss: () => LogLoss | undefined;
  /** A stop is announced. */
  readonly stopping: () => boolean;
}

/** What a running proxy shows: health, readiness, status, metrics, the last requests. */
export class Overview {
  readonly #watched: OverviewOptions;
  readonly #startedMonoMs: number;
  readonly #history: History;
  readonly #health: Health;
  readonly #metrics: Metrics;

  constructor(watched: OverviewOptions) {
    const { clock, events, sources, watchdog, running, droppedLogLines, logLoss } = watched;
    this.#watched = watched;
    this.#startedMonoMs = clock.monoMs();
    this.#history = new History({ clock, logLoss, pauses: processMetrics().pauses });
    this.#health = new Health(clock);
    this.#metrics = createMetrics({
      version: VERSION,
      inFlight: () => watchdog.size,
      tunnels: () => watchdog.count(Tunnel),
      waiting: () => sources.waiting,
      tokens: () => sources.statuses(),
      droppedLogLines,
      secretFiles: () => running.config.fileNames,
      ...(running.config.listenTls && {
        certificateExpiryMs: () => running.config.listenTls?.validUntilMs ?? 0,
      }),
    });
    events.subscribe(this.#metrics.observe);
    events.subscribe(this.#health.observe);
  }

  /** Keeps what happens from now on, for the admin listener, and calls `changed` after each event. */
  showTo(changed: () => void): void {
    this.#watched.events.subscribe((event) => {
      this.#history.observe(event);
      changed();
    });
  }

  get readiness(): Readiness {
    const { sources, running, stopping } = this.#watched;
    return readinessOf({
      stopping: stopping(),
      tokens: sources.statuses(),
      routes: running.settings.routes.routes,
      share: sources.sharing,
    });
  }

  get status(): Status {
    const { clock, sources, watchdog, running, stopping } = this.#watched;
    return statusOf({
      version: VERSION,
      uptimeMs: clock.monoMs() - this.#startedMonoMs,
      stopping: stopping(),
      inFlight: watchdog.size,
      tunnels: watchdog.count(Tunnel),
      waiting: sources.waiting,
      configuredMs: running.sinceMs,
      credentials: running.config.credentials,
      tokens: sources.statuses(),
      routes: running.settings.routes.routes,
      requestsByRoute: this.#metrics.requestsByRoute(),
      recent: this.#history.recent,
      share: sources.sharing,
      limits: running.settings.limits.status,
    });
  }

  /** Everything that the admin listener serves. */
  view(reload: AdminView['reload']): AdminView {
    const { sources, running } = this.#watched;
    return {
      guard: () => running.settings.adminGuard,
      healthy: () => this.#health.healthy,
      readiness: () => this.readiness,
      status: () => this.status,
      requests: () => this.#history.recent.requests(),
      why: (id) => this.#why(id),
      troubles: () => this.#troubles(),
      configuration: async () => ({
        files: filesRead(running.config),
        yaml: await annotated(running.config),
      }),
      page: async () => (await import('../observe/page.ts')).statusPage(),
      metrics: () => this.#metrics.render(),
      renew: () => sources.renewAll(),
      reload,
    };
  }

  #why(id: string): ReturnType<AdminView['why']> {
    const report = this.#history.recent.why(id);
    return (
      report && { report, text: async () => (await import('../observe/why/why-text.ts')).whyText(report) }
    );
  }

  #troubles(): ReturnType<AdminView['troubles']> {
    const lastFailed = this.#history.recent.whyLastFailed();
    const report: Situation = this.#history.situation(this.readiness, this.status);
    const text = async () => {
      const { troublesText } = await import('../observe/why/situation-text.ts');
      return troublesText(report, lastFailed);
    };
    return { lastFailed, report, text };
  }
}
