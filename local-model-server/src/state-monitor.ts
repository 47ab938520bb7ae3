/** What is known of every version ever served (core/servable_state_monitor.cc). */
import { type StatusError, servableId, statusText } from '@sagemaker-tfs/libtensorflow/serving';
import { ModelVersionStatus_State as State } from '@sagemaker-tfs/tensors/protos';

/** State of one version that is or was served. */
export interface VersionStatus {
  readonly version: bigint;
  readonly state: State;
  /** Why loading failed. */
  readonly error: StatusError | undefined;
}

/** A version that ended a wait: available, or at its end. */
export interface Reached extends VersionStatus {
  readonly model: string;
}

type States = Map<string, Map<bigint, VersionStatus>>;

/** The last state of each version, by model. */
export class StateMonitor {
  readonly #states: States = new Map();
  readonly #listeners = new Set<(model: string, status: VersionStatus) => void>();

  /** Notes a state, and tells it to those who wait. */
  set(model: string, status: VersionStatus): void {
    note(this.#states, model, status);
    for (const listener of [...this.#listeners]) listener(model, status);
  }

  /** States of all versions ever tried, newest first. */
  statuses(model: string): VersionStatus[] {
    return newestFirst(this.#states.get(model));
  }

  isAvailable(model: string, version: bigint): boolean {
    return this.#states.get(model)?.get(version)?.state === State.AVAILABLE;
  }

  /**
   * Resolves once each of the models has a version that is available or at its end. What was before does not count,
   * and the end of an older version counts as well as that of a new one.
   */
  reached(models: readonly string[]): Promise<Reached[]> {
    const fresh: States = new Map();
    return new Promise((resolve) => {
      const settle = () => {
        const found = models.map((model) => settledVersion(fresh, model));
        const reached = found.filter((status) => status !== undefined);
        if (reached.length < models.length) return;
        this.#listeners.delete(listener);
        resolve(reached);
      };
      const listener = (model: string, status: VersionStatus) => {
        note(fresh, model, status);
        settle();
      };
      this.#listeners.add(listener);
      settle();
    });
  }
}

/** TensorFlow Serving's text about models that are not available, `kind` being its word for them. */
export function unavailableText(kind: 'model' | 'servable', reached: readonly Reached[]): string {
  const missing = reached.filter(({ state }) => state !== State.AVAILABLE);
  const each = missing.map(({ model, version, error }) => {
    const reason = error ? ` due to error: ${statusText(error)}` : '';
    return `{${servableId(model, version)}${reason}}, `;
  });
  return `${missing.length} ${kind}(s) did not become available: {${each.join('')}}`;
}

function settledVersion(states: States, model: string): Reached | undefined {
  const status = newestFirst(states.get(model)).find(
    ({ state }) => state === State.AVAILABLE || state === State.END,
  );
  return status && { model, ...status };
}

function note(states: States, model: string, status: VersionStatus): void {
  const versions = states.get(model) ?? new Map<bigint, VersionStatus>();
  versions.set(status.version, status);
  states.set(model, versions);
}

function newestFirst(versions: ReadonlyMap<bigint, VersionStatus> | undefined): VersionStatus[] {
  return [...(versions?.values() ?? [])].sort((a, b) => (a.version < b.version ? 1 : -1));
}
