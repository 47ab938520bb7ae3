/** The wheel that is fetched where the machine has no libtensorflow, and what is in it. */

/** One wheel of the Python package index, pinned. */
export interface PinnedWheel {
  /** The package's name; on arm64 the CPU build is published as plain `tensorflow`. */
  readonly package: 'tensorflow-cpu' | 'tensorflow';
  readonly version: string;
  /** The platform tag that pip is asked for. */
  readonly platform: string;
  /** Of the wheel, hexadecimal. */
  readonly sha256: string;
  /** Size of the wheel. */
  readonly bytes: number;
  /** The files to unpack: entry in the wheel, size unpacked. */
  readonly libraries: readonly { readonly entry: string; readonly bytes: number }[];
}

/** Version of the wheels below. */
export const PINNED_VERSION = '2.21.0';

/** The Python that the wheels are for; any would do, the libraries do not depend on it. */
export const PINNED_PYTHON = '3.11';

/** By `process.arch`, for Linux. */
export const WHEELS: Readonly<Record<string, PinnedWheel>> = {
  x64: {
    package: 'tensorflow-cpu',
    version: PINNED_VERSION,
    platform: 'manylinux_2_27_x86_64',
    sha256: '2b847d217b02ee7731ed91431daf3250daa0196c3c94614d23be27232e6e5b6c',
    bytes: 273_829_956,
    libraries: [
      { entry: 'tensorflow/libtensorflow_framework.so.2', bytes: 65_222_328 },
      { entry: 'tensorflow/libtensorflow_cc.so.2', bytes: 788_086_608 },
    ],
  },
  arm64: {
    package: 'tensorflow',
    version: PINNED_VERSION,
    platform: 'manylinux_2_27_aarch64',
    sha256: '4b24aca16d527a3cf1c37f720c04c484c3d20f4d0fdfa98632ac8b9f3be6eb5c',
    bytes: 281_828_020,
    libraries: [
      { entry: 'tensorflow/libtensorflow_framework.so.2', bytes: 68_176_664 },
      { entry: 'tensorflow/libtensorflow_cc.so.2', bytes: 814_885_544 },
    ],
  },
};

/**
 * The same for macOS, whose C API was compared with this package's bindings: every function is exported. Nothing was run
 * on macOS.
 */
const MACOS_WHEELS: typeof WHEELS = {
  arm64: {
    package: 'tensorflow',
    version: PINNED_VERSION,
    platform: 'macosx_12_0_arm64',
    sha256: '51f46f4806139d01fc7920cc72a4c75876f80649bf40ff083ab6212ceb43ca88',
    bytes: 223_405_849,
    libraries: [
      { entry: 'tensorflow/libtensorflow_framework.2.dylib', bytes: 49_452_976 },
      { entry: 'tensorflow/libtensorflow_cc.2.dylib', bytes: 691_352_648 },
    ],
  },
};

/** The wheel for this machine, or undefined if there is none (another system or processor). */
export function pinnedWheel(): PinnedWheel | undefined {
  const wheels = { linux: WHEELS, darwin: MACOS_WHEELS }[process.platform as string];
  return wheels?.[process.arch];
}
