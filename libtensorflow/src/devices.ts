/** The devices that TensorFlow runs a session on. */
import type { CApi, Pointer } from './c-api.ts';
import { withStatus } from './status.ts';

/** One device. */
export interface Device {
  /** For example `GPU:0`. */
  readonly name: string;
  /** For example `CPU` or `GPU`. */
  readonly type: string;
  /** Memory that TensorFlow may take there. */
  readonly memoryBytes: number;
}

/** Every device of the session's process, in TensorFlow's order; none where TensorFlow does not tell. */
export async function devicesOf(api: CApi, session: Pointer): Promise<readonly Device[]> {
  const { result } = await withStatus(api, async (status) => {
    const list = api.TF_SessionListDevices(session, status);
    if (list === null) return [];
    const devices = Array.from({ length: api.TF_DeviceListCount(list) }, (_, index): Device => {
      const name = api.TF_DeviceListName(list, index, status);
      return {
        name: name.replace(/^.*\/device:/, ''),
        type: api.TF_DeviceListType(list, index, status),
        memoryBytes: api.TF_DeviceListMemoryBytes(list, index, status),
      };
    });
    api.TF_DeleteDeviceList(list);
    return devices;
  });
  return result;
}
