/** What NVIDIA's driver says, through the libraries that it puts on every machine with a GPU. No tool is started. */
import { readFileSync } from 'node:fs';
import koffi, { type LibraryHandle } from 'koffi';

/** The driver and its GPUs. */
export interface Driver {
  /** For example `580.95.05`; undefined if the driver does not tell. */
  readonly version: string | undefined;
  /** Greatest CUDA that it runs, for example `13.0`. */
  readonly cuda: string | undefined;
  readonly gpus: readonly Gpu[];
}

/** One GPU. */
export interface Gpu {
  readonly name: string;
  readonly memoryBytes: number;
  /** For example `9.0`. */
  readonly computeCapability: string;
}

const SUCCESS = 0;
const NAME_BYTES = 96;

/** The driver's management library, kept open; undefined if it is not here or does not work. */
let nvml: LibraryHandle | undefined;

/** Looks for a driver. @returns what is wrong, in words, if there is none */
export function findDriver(): Driver | string {
  try {
    nvml = koffi.load('libnvidia-ml.so.1');
  } catch {
    return 'libnvidia-ml.so.1 is not here: this machine has no driver of NVIDIA, or the container was started without one';
  }
  const status = nvml.func('int nvmlInit_v2()')() as number;
  if (status !== SUCCESS) {
    nvml = undefined;
    return `libnvidia-ml.so.1 is here, but nvmlInit answers ${status}: no GPU was given to this machine, or driver and library differ`;
  }
  return {
    version: text('nvmlSystemGetDriverVersion'),
    cuda: cudaVersion(),
    gpus: Array.from({ length: gpuCount() }, (_, index) => gpuAt(index)),
  };
}

/** Bytes of the first GPU's memory that are taken now, by whomever. */
export function memoryUsed(): number | undefined {
  return memoryOf(0)?.used;
}

/** Percent of the last moments in which the first GPU computed. */
export function utilization(): number | undefined {
  if (!nvml) return undefined;
  const rates = new Uint32Array(2);
  const read = nvml.func('int nvmlDeviceGetUtilizationRates(void *device, void *rates)');
  return read(deviceAt(0), rates) === SUCCESS ? rates[0] : undefined;
}

/** NVIDIA's libraries that this process has loaded, by the names of their files. */
export function loadedLibraries(): string[] {
  const maps = readFileSync('/proc/self/maps', 'latin1');
  const files = [...maps.matchAll(/ (\/\S*\/lib(?:cu|nv|nccl)[^/\s]*)$/gm)].map(
    ([, path]) => path as string,
  );
  return [...new Set(files)].sort();
}

/** Versions that loaded libraries tell of themselves. */
export function libraryVersions(): Readonly<Record<string, string>> {
  const versions: Record<string, string> = {};
  for (const path of loadedLibraries()) {
    if (/libcudnn\.so/.test(path)) {
      const version = Number(koffi.load(path).func('size_t cudnnGetVersion()')());
      versions.cuDNN = `${Math.floor(version / 10_000)}.${Math.floor(version / 100) % 100}.${version % 100}`;
    }
    if (/libcudart\.so/.test(path)) {
      const out = new Int32Array(1);
      koffi.load(path).func('int cudaRuntimeGetVersion(void *out)')(out);
      versions.CUDA = dotted(out[0] ?? 0);
    }
  }
  return versions;
}

function gpuCount(): number {
  const count = new Uint32Array(1);
  nvml?.func('int nvmlDeviceGetCount_v2(void *count)')(count);
  return count[0] ?? 0;
}

function gpuAt(index: number): Gpu {
  const device = deviceAt(index);
  const name = Buffer.alloc(NAME_BYTES);
  nvml?.func('int nvmlDeviceGetName(void *device, void *name, uint bytes)')(
    device,
    name,
    NAME_BYTES,
  );
  const [major, minor] = [new Int32Array(1), new Int32Array(1)];
  nvml?.func('int nvmlDeviceGetCudaComputeCapability(void *device, void *major, void *minor)')(
    device,
    major,
    minor,
  );
  return {
    name: untilZero(name),
    memoryBytes: memoryOf(index)?.total ?? 0,
    computeCapability: `${major[0]}.${minor[0]}`,
  };
}

function deviceAt(index: number): bigint {
  const handle = new BigUint64Array(1);
  nvml?.func('int nvmlDeviceGetHandleByIndex_v2(uint index, void *device)')(index, handle);
  return handle[0] ?? 0n;
}

function memoryOf(index: number): { readonly total: number; readonly used: number } | undefined {
  if (!nvml) return undefined;
  const memory = new BigUint64Array(3);
  const read = nvml.func('int nvmlDeviceGetMemoryInfo(void *device, void *memory)');
  if (read(deviceAt(index), memory) !== SUCCESS) return undefined;
  return { total: Number(memory[0]), used: Number(memory[2]) };
}

function text(name: string): string | undefined {
  const out = Buffer.alloc(NAME_BYTES);
  const status = nvml?.func(`int ${name}(void *text, uint bytes)`)(out, NAME_BYTES) as number;
  return status === SUCCESS ? untilZero(out) : undefined;
}

function cudaVersion(): string | undefined {
  const out = new Int32Array(1);
  const status = nvml?.func('int nvmlSystemGetCudaDriverVersion_v2(void *version)')(out) as number;
  return status === SUCCESS ? dotted(out[0] ?? 0) : undefined;
}

/** CUDA's numbers: 12050 is 12.5. */
function dotted(version: number): string {
  return `${Math.floor(version / 1_000)}.${Math.floor((version % 1_000) / 10)}`;
}

function untilZero(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString('latin1', 0, end < 0 ? bytes.length : end);
}
