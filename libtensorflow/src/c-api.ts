/** TensorFlow's C API (tensorflow/c/c_api.h) bound through koffi: the functions that this package calls. */
import { promisify } from 'node:util';
import koffi, { type KoffiFunc, type LibraryHandle } from 'koffi';
import { LibTensorFlowError } from './errors.ts';
import type { LibraryLocation } from './library-location.ts';
import { defaultLogLevel, setLogLevel } from './log-level.ts';
import { holdStderr } from './quiet-start.ts';
import { constructStreams } from './standard-streams.ts';

/** The address of a native object. */
export type Pointer = bigint;

/** A pointer that a C function takes: an address, or memory of JavaScript that lives through the call. */
type PointerArgument = Pointer | ArrayBufferView | null;

/**
 * Native code runs on a stack that koffi allocates, 128 KiB for asynchronous calls. TensorFlow recurses
 * over graphs and may run kernels on the caller's thread, so it gets the stack of a thread of Linux. Only
 * pages that are touched take memory.
 */
const NATIVE_STACK_BYTES = 8 * 1024 * 1024;

/**
 * Flags of glibc's dlfcn.h: RTLD_NOW, and
 * - RTLD_DEEPBIND, because Node exports OpenSSL, zlib and Brotli from its executable: without it
 *   TensorFlow's calls of its own copies of these (BoringSSL among them) would land in Node's;
 * - RTLD_NODELETE, because koffi unloads libraries when Node exits, under TensorFlow's running threads.
 */
const LINUX_FLAGS = 0x2 | 0x8 | 0x1000;

/**
 * The same of macOS: RTLD_NOW, RTLD_LOCAL and RTLD_NODELETE. A library there finds its own copies first, by their names
 * (two-level namespace), so nothing stands for RTLD_DEEPBIND, whose bit is RTLD_GLOBAL.
 */
const MACOS_FLAGS = 0x2 | 0x4 | 0x80;

const isMacos = () => process.platform === 'darwin';
const dlopenFlags = () => (isMacos() ? MACOS_FLAGS : LINUX_FLAGS);

/** The C API, one property a function. Pointers to structs of TensorFlow are opaque addresses. */
export type CApi = ReturnType<typeof bindCApi>;

/** A loaded libtensorflow. */
export interface TensorFlow {
  /** TensorFlow's version, for example `2.21.0`. */
  readonly version: string;
  readonly location: LibraryLocation;
  readonly api: CApi;
}

const loaded = new Map<string, TensorFlow>();

/**
 * Loads the library into the process, where it stays; a second call for the same file is free.
 * Synchronous: on a cold disk the first call takes seconds. {@link preloadLibrary} waits elsewhere.
 *
 * @param location from `findLibrary()` or `ensureLibrary()`. Default: the library loaded before.
 * @throws LibTensorFlowError LIBRARY_LOAD_FAILED, or LIBRARY_NOT_FOUND where nothing was loaded before
 */
export function loadLibrary(location?: LibraryLocation): TensorFlow {
  const known = location ? loaded.get(location.cc) : loaded.values().next().value;
  if (known) return known;
  if (!location) {
    throw new LibTensorFlowError(
      'LIBRARY_NOT_FOUND',
      'No library has been loaded yet. Call loadLibrary(await ensureLibrary()) first.',
    );
  }
  prepareProcess();
  const release = holdStderr();
  try {
    for (const path of [location.framework, location.cc]) dlopen()(path, dlopenFlags());
  } finally {
    release();
  }
  return bindLibrary(location);
}

/**
 * The same from a worker thread, so that the event loop stays free while the system maps and relocates
 * 850 MB of library.
 */
export async function preloadLibrary(location: LibraryLocation): Promise<TensorFlow> {
  const known = loaded.get(location.cc);
  if (known) return known;
  prepareProcess();
  const open = promisify<string, number, Pointer | null>(dlopen().async);
  const release = holdStderr();
  try {
    for (const path of [location.framework, location.cc]) await open(path, dlopenFlags());
  } finally {
    release();
  }
  return bindLibrary(location);
}

/** Settings that must be made before the library is loaded. */
function prepareProcess(): void {
  if ((koffi.config().async_stack_size ?? 0) < NATIVE_STACK_BYTES) {
    koffi.config({ async_stack_size: NATIVE_STACK_BYTES, sync_stack_size: NATIVE_STACK_BYTES });
  }
  defaultLogLevel();
}

function dlopen(): KoffiFunc<(path: string, flags: number) => Pointer | null> {
  return koffi.load(null).func('void *dlopen(const char *path, int flags)');
}

function bindLibrary(location: LibraryLocation): TensorFlow {
  // If dlopen failed, koffi's own attempt fails too, with the system's reason.
  setLogLevel(openLibrary(location.framework), location.framework);
  const api = bindCApi(openLibrary(location.cc));
  const opened = dlopen()(location.cc, dlopenFlags());
  if (opened !== null && !isMacos()) constructStreams(opened);
  const tensorflow = { version: api.TF_Version(), location, api };
  loaded.set(location.cc, tensorflow);
  return tensorflow;
}

function openLibrary(path: string): LibraryHandle {
  try {
    return koffi.load(path, { deep: !isMacos() });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new LibTensorFlowError(
      'LIBRARY_LOAD_FAILED',
      `${path} cannot be loaded: ${reason}. It needs ${isMacos() ? 'macOS 12 or later' : '64-bit Linux with glibc 2.27 or later'} ` +
        'and the processor that it was built for.',
      { cause },
    );
  }
}

type SessionRun = [
  session: Pointer,
  runOptions: Pointer | null,
  feeds: PointerArgument,
  feedValues: PointerArgument,
  feedCount: number,
  fetches: PointerArgument,
  fetchValues: PointerArgument,
  fetchCount: number,
  targets: null,
  targetCount: number,
  runMetadata: null,
  status: Pointer,
];
const SESSION_RUN =
  'void TF_SessionRun(void *session, void *run_options, void *feeds, void *feed_values, ' +
  'int feed_count, void *fetches, void *fetch_values, int fetch_count, void *targets, ' +
  'int target_count, void *run_metadata, void *status)';

/** Prototypes as in tensorflow/c/{c_api,tf_buffer,tf_status,tf_tensor,tf_tstring}.h. */
function bindCApi(library: LibraryHandle) {
  const bind = <F>(prototype: string) => library.func(prototype) as F;
  /** For calls that take long: runs on one of libuv's worker threads. */
  const bindAsync = <A extends unknown[], R = void>(prototype: string) =>
    promisify(library.func(prototype).async) as (...args: A) => Promise<R>;
  return {
    TF_Version: bind<() => string>('const char *TF_Version()'),

    TF_NewStatus: bind<() => Pointer>('void *TF_NewStatus()'),
    TF_GetCode: bind<(status: Pointer) => number>('int TF_GetCode(void *status)'),
    TF_Message: bind<(status: Pointer) => string>('const char *TF_Message(void *status)'),
    TF_DeleteStatus: bind<(status: Pointer) => void>('void TF_DeleteStatus(void *status)'),

    TF_NewBuffer: bind<() => Pointer>('void *TF_NewBuffer()'),
    TF_NewBufferFromString: bind<(bytes: Uint8Array, length: number) => Pointer>(
      'void *TF_NewBufferFromString(const void *bytes, size_t length)',
    ),
    TF_DeleteBuffer: bind<(buffer: Pointer) => void>('void TF_DeleteBuffer(void *buffer)'),

    TF_NewGraph: bind<() => Pointer>('void *TF_NewGraph()'),
    TF_DeleteGraph: bindAsync<[graph: Pointer]>('void TF_DeleteGraph(void *graph)'),
    TF_GraphOperationByName: bind<(graph: Pointer, name: string) => Pointer | null>(
      'void *TF_GraphOperationByName(void *graph, const char *name)',
    ),
    TF_OperationNumOutputs: bind<(operation: Pointer) => number>(
      'int TF_OperationNumOutputs(void *operation)',
    ),

    TF_NewSessionOptions: bind<() => Pointer>('void *TF_NewSessionOptions()'),
    TF_SetConfig: bind<
      (options: Pointer, config: Uint8Array, length: number, status: Pointer) => void
    >('void TF_SetConfig(void *options, const void *config, size_t length, void *status)'),
    TF_DeleteSessionOptions: bind<(options: Pointer) => void>(
      'void TF_DeleteSessionOptions(void *options)',
    ),
    TF_LoadSessionFromSavedModel: bindAsync<
      [
        options: Pointer,
        runOptions: null,
        directory: string,
        tags: readonly string[],
        tagCount: number,
        graph: Pointer,
        metaGraph: Pointer,
        status: Pointer,
      ],
      Pointer | null
    >(
      'void *TF_LoadSessionFromSavedModel(void *options, void *run_options, const char *directory, ' +
        'const char **tags, int tag_count, void *graph, void *meta_graph, void *status)',
    ),
    TF_CloseSession: bindAsync<[session: Pointer, status: Pointer]>(
      'void TF_CloseSession(void *session, void *status)',
    ),
    TF_DeleteSession: bindAsync<[session: Pointer, status: Pointer]>(
      'void TF_DeleteSession(void *session, void *status)',
    ),
    TF_SessionListDevices: bind<(session: Pointer, status: Pointer) => Pointer | null>(
      'void *TF_SessionListDevices(void *session, void *status)',
    ),
    TF_DeviceListCount: bind<(list: Pointer) => number>('int TF_DeviceListCount(void *list)'),
    TF_DeviceListName: bind<(list: Pointer, index: number, status: Pointer) => string>(
      'const char *TF_DeviceListName(void *list, int index, void *status)',
    ),
    TF_DeviceListType: bind<(list: Pointer, index: number, status: Pointer) => string>(
      'const char *TF_DeviceListType(void *list, int index, void *status)',
    ),
    TF_DeviceListMemoryBytes: bind<(list: Pointer, index: number, status: Pointer) => number>(
      'int64_t TF_DeviceListMemoryBytes(void *list, int index, void *status)',
    ),
    TF_DeleteDeviceList: bind<(list: Pointer) => void>('void TF_DeleteDeviceList(void *list)'),
    TF_SessionRun: bindAsync<SessionRun>(SESSION_RUN),
    /** The same on this thread, which waits for it. */
    sessionRunHere: bind<(...args: SessionRun) => void>(SESSION_RUN),

    TF_AllocateTensor: bind<
      (dtype: number, dims: BigInt64Array, rank: number, bytes: number) => Pointer | null
    >('void *TF_AllocateTensor(int dtype, const void *dims, int rank, size_t bytes)'),
    TF_DeleteTensor: bind<(tensor: Pointer) => void>('void TF_DeleteTensor(void *tensor)'),
    TF_TensorMaybeMove: bind<(tensor: Pointer) => Pointer | null>(
      'void *TF_TensorMaybeMove(void *tensor)',
    ),
    TF_TensorType: bind<(tensor: Pointer) => number>('int TF_TensorType(void *tensor)'),
    TF_NumDims: bind<(tensor: Pointer) => number>('int TF_NumDims(void *tensor)'),
    TF_Dim: bind<(tensor: Pointer, index: number) => number>(
      'int64_t TF_Dim(void *tensor, int index)',
    ),
    TF_TensorByteSize: bind<(tensor: Pointer) => number>('size_t TF_TensorByteSize(void *tensor)'),
    TF_TensorData: bind<(tensor: Pointer) => Pointer>('void *TF_TensorData(void *tensor)'),

    TF_StringInit: bind<(string: Pointer) => void>('void TF_StringInit(void *string)'),
    TF_StringCopy: bind<(string: Pointer, source: Uint8Array, bytes: number) => void>(
      'void TF_StringCopy(void *string, const void *source, size_t bytes)',
    ),
    TF_StringDealloc: bind<(string: Pointer) => void>('void TF_StringDealloc(void *string)'),
    TF_StringGetSize: bind<(string: Pointer) => number>('size_t TF_StringGetSize(void *string)'),
    TF_StringGetDataPointer: bind<(string: Pointer) => Pointer>(
      'void *TF_StringGetDataPointer(void *string)',
    ),

    memcpy: bind<(target: PointerArgument, source: PointerArgument, bytes: number) => Pointer>(
      'void *memcpy(void *target, const void *source, size_t bytes)',
    ),
  };
}
