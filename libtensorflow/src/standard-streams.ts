/**
 * `std::cout` and `std::cerr` as TensorFlow sees them. Node's executable has copies of its own of these objects (R_X86_64_COPY),
 * and the C++ library constructs only the copies. TensorFlow is loaded with RTLD_DEEPBIND, so that it finds the C++ library's:
 * memory in which nothing was ever constructed. `tf.print` writes there, and the process would end with SIGSEGV.
 */
import koffi from 'koffi';

/** The streams of one byte a character; TensorFlow uses no others. */
const STREAMS = ['_ZSt4cout', '_ZSt4cerr', '_ZSt4clog'];
/** `std::ostream::ostream(std::streambuf*)` */
const CONSTRUCTOR = '_ZNSoC1EPSt15basic_streambufIcSt11char_traitsIcEE';
const CONSTRUCTOR_PROTOTYPE = koffi.proto('void', ['void *', 'void *']);
/** `std::streambuf* std::ios::rdbuf() const` */
const BUFFER_OF = '_ZNKSt9basic_iosIcSt11char_traitsIcEE5rdbufEv';
const BUFFER_PROTOTYPE = koffi.proto('void *', ['void *']);

/** Where the Itanium C++ ABI keeps the offset of the virtual base: before the functions of the virtual table. */
const VIRTUAL_BASE_AT = -24n;

/**
 * Constructs the streams that a library finds and nobody has constructed, on the buffers of the process's own. Nothing happens
 * where they are the same objects, or where the C++ library has others.
 * @param library handle from dlopen
 */
export function constructStreams(library: bigint): void {
  const lookUp = koffi.load(null).func('void *dlsym(void *library, const char *name)') as (
    library: bigint,
    name: string,
  ) => bigint | null;
  const construct = lookUp(library, CONSTRUCTOR);
  const bufferOf = lookUp(library, BUFFER_OF);
  if (construct === null || bufferOf === null) return;
  for (const name of STREAMS) {
    const theirs = lookUp(library, name);
    // RTLD_DEFAULT: as the executable finds it.
    const ours = lookUp(0n, name);
    if (theirs === null || ours === null || isConstructed(theirs) || !isConstructed(ours)) continue;
    const buffer = koffi.call(bufferOf, BUFFER_PROTOTYPE, iosOf(ours));
    koffi.call(construct, CONSTRUCTOR_PROTOTYPE, theirs, buffer);
  }
}

/** Its first word is the address of its virtual table. */
function isConstructed(stream: bigint): boolean {
  return word(stream) !== 0n;
}

/** The `std::ios` in a `std::ostream`. */
function iosOf(stream: bigint): bigint {
  return stream + BigInt.asIntN(64, word(word(stream) + VIRTUAL_BASE_AT));
}

function word(address: bigint): bigint {
  return BigInt(koffi.decode(address, 'uint64_t') as number | bigint);
}
