;; Resizing of a band of rows, with 128-bit SIMD: `resize` between two rows and two pixels, `filter` over any number. Built into gen/resample-wasm.ts by
;; `node container/src/images/build-wasm.mjs`; called from resample-kernel.ts, which lays out the memory.
(module
  (memory (export "memory") 1)

  ;; Writes $rows rows of $length bytes to $out, one after another. For each of them $low and $high hold where
  ;; the rows of pixels above and below it begin (u32, from $pixels on) and $mix how far it lies between (f32).
  ;; The rows last resized horizontally are kept in $upper and $lower: the next row mostly needs one of them.
  (func (export "resize")
    (param $rows i32) (param $low i32) (param $high i32) (param $mix i32) (param $pixels i32)
    (param $left i32) (param $weight i32) (param $columns i32) (param $channels i32)
    (param $upper i32) (param $lower i32) (param $length i32) (param $out i32)
    (local $end i32) (local $above i32) (local $below i32) (local $has_upper i32) (local $has_lower i32)
    (local $swap i32)
    (local.set $end (i32.add (local.get $low) (i32.shl (local.get $rows) (i32.const 2))))
    (local.set $has_upper (i32.const -1))
    (local.set $has_lower (i32.const -1))
    (loop $row
      (local.set $above (i32.load (local.get $low)))
      (local.set $below (i32.load (local.get $high)))
      (if (i32.eq (local.get $has_lower) (local.get $above))
        (then
          (local.set $swap (local.get $upper))
          (local.set $upper (local.get $lower))
          (local.set $lower (local.get $swap))
          (local.set $has_lower (local.get $has_upper))
          (local.set $has_upper (local.get $above))))
      (if (i32.ne (local.get $has_upper) (local.get $above))
        (then
          (call $blendRow
            (i32.add (local.get $pixels) (local.get $above))
            (local.get $left) (local.get $weight) (local.get $columns) (local.get $channels)
            (local.get $upper))
          (local.set $has_upper (local.get $above))))
      (if (i32.ne (local.get $has_lower) (local.get $below))
        (then
          (call $blendRow
            (i32.add (local.get $pixels) (local.get $below))
            (local.get $left) (local.get $weight) (local.get $columns) (local.get $channels)
            (local.get $lower))
          (local.set $has_lower (local.get $below))))
      (call $mixRows
        (local.get $upper) (local.get $lower) (f32.load (local.get $mix)) (local.get $length)
        (local.get $out))
      (local.set $out (i32.add (local.get $out) (local.get $length)))
      (local.set $high (i32.add (local.get $high) (i32.const 4)))
      (local.set $mix (i32.add (local.get $mix) (i32.const 4)))
      (br_if $row
        (i32.lt_u
          (local.tee $low (i32.add (local.get $low) (i32.const 4)))
          (local.get $end)))))

  ;; For each column: out = pixel + (next pixel - pixel) * weight, `channels` floats a column. $left holds u32
  ;; byte offsets into the row of pixels, $weight f32, zero where the next pixel is not meant. A pixel is read
  ;; as four bytes and written as four floats; the fourth is the next pixel's, overwritten or never read.
  ;; (No helper functions in the loops: V8 does not inline them, which halves the speed.)
  (func $blendRow
    (param $row i32) (param $left i32) (param $weight i32)
    (param $columns i32) (param $channels i32) (param $out i32)
    (local $at i32) (local $end i32) (local $step i32) (local $pixel i32) (local $a v128)
    (local.set $end (i32.shl (local.get $columns) (i32.const 2)))
    (local.set $step (i32.shl (local.get $channels) (i32.const 2)))
    (loop $column
      (local.set $pixel
        (i32.add (local.get $row) (i32.load (i32.add (local.get $left) (local.get $at)))))
      (local.set $a
        (f32x4.convert_i32x4_s
          (i8x16.swizzle
            (v128.load32_zero (local.get $pixel))
            (v128.const i8x16 0 128 128 128 1 128 128 128 2 128 128 128 3 128 128 128))))
      (v128.store (local.get $out)
        (f32x4.add (local.get $a)
          (f32x4.mul
            (f32x4.sub
              (f32x4.convert_i32x4_s
                (i8x16.swizzle
                  (v128.load32_zero (i32.add (local.get $pixel) (local.get $channels)))
                  (v128.const i8x16 0 128 128 128 1 128 128 128 2 128 128 128 3 128 128 128)))
              (local.get $a))
            (v128.load32_splat (i32.add (local.get $weight) (local.get $at))))))
      (local.set $out (i32.add (local.get $out) (local.get $step)))
      (br_if $column
        (i32.lt_u
          (local.tee $at (i32.add (local.get $at) (i32.const 4)))
          (local.get $end)))))

  ;; out = upper + (lower - upper) * weight, rounded to the nearest byte (values are never negative, nor more than
  ;; 255); $length is rounded up to a multiple of 16. A whole float below 2^23, added to 2^23, is in the lowest
  ;; bits of the sum: that takes fewer instructions than a conversion, which must heed NaN and what is too large.
  (func $mixRows
    (param $upper i32) (param $lower i32) (param $weight f32) (param $length i32) (param $out i32)
    (local $end i32) (local $w v128) (local $a v128)
    (local.set $w (f32x4.splat (local.get $weight)))
    (local.set $end (i32.add (local.get $out) (local.get $length)))
    (loop $block
      (v128.store (local.get $out)
        (i8x16.narrow_i16x8_u
          (i16x8.narrow_i32x4_s
            (v128.and (v128.const i32x4 255 255 255 255)
              (f32x4.add (v128.const f32x4 8388608 8388608 8388608 8388608)
                (f32x4.floor
                  (f32x4.add (v128.const f32x4 0.5 0.5 0.5 0.5)
                    (f32x4.add
                      (local.tee $a (v128.load (local.get $upper)))
                      (f32x4.mul
                        (f32x4.sub (v128.load (local.get $lower)) (local.get $a))
                        (local.get $w)))))))
            (v128.and (v128.const i32x4 255 255 255 255)
              (f32x4.add (v128.const f32x4 8388608 8388608 8388608 8388608)
                (f32x4.floor
                  (f32x4.add (v128.const f32x4 0.5 0.5 0.5 0.5)
                    (f32x4.add
                      (local.tee $a (v128.load offset=16 (local.get $upper)))
                      (f32x4.mul
                        (f32x4.sub (v128.load offset=16 (local.get $lower)) (local.get $a))
                        (local.get $w))))))))
          (i16x8.narrow_i32x4_s
            (v128.and (v128.const i32x4 255 255 255 255)
              (f32x4.add (v128.const f32x4 8388608 8388608 8388608 8388608)
                (f32x4.floor
                  (f32x4.add (v128.const f32x4 0.5 0.5 0.5 0.5)
                    (f32x4.add
                      (local.tee $a (v128.load offset=32 (local.get $upper)))
                      (f32x4.mul
                        (f32x4.sub (v128.load offset=32 (local.get $lower)) (local.get $a))
                        (local.get $w)))))))
            (v128.and (v128.const i32x4 255 255 255 255)
              (f32x4.add (v128.const f32x4 8388608 8388608 8388608 8388608)
                (f32x4.floor
                  (f32x4.add (v128.const f32x4 0.5 0.5 0.5 0.5)
                    (f32x4.add
                      (local.tee $a (v128.load offset=48 (local.get $upper)))
                      (f32x4.mul
                        (f32x4.sub (v128.load offset=48 (local.get $lower)) (local.get $a))
                        (local.get $w))))))))))
      (local.set $upper (i32.add (local.get $upper) (i32.const 64)))
      (local.set $lower (i32.add (local.get $lower) (i32.const 64)))
      (br_if $block
        (i32.lt_u
          (local.tee $out (i32.add (local.get $out) (i32.const 16)))
          (local.get $end)))))

  ;; Writes $rows rows of $length bytes to $out, one after another. Each is the weighted sum of $rowTaps rows of
  ;; $rowBytes bytes, of which $top holds where the first begins (u32, from address 0 on), and then, for each of
  ;; $columns, of $columnTaps pixels of that sum; $left holds where the first of them begins (u32, in bytes of
  ;; floats from $sums on). Weights are f32, those of one row or column after another.
  (func (export "filter")
    (param $rows i32) (param $top i32) (param $rowWeights i32) (param $rowTaps i32) (param $rowBytes i32)
    (param $left i32) (param $columnWeights i32) (param $columnTaps i32) (param $columns i32)
    (param $channels i32) (param $sums i32) (param $wide i32) (param $length i32) (param $out i32)
    (local $end i32)
    (local.set $end (i32.add (local.get $top) (i32.shl (local.get $rows) (i32.const 2))))
    (loop $row
      (call $sumRows
        (i32.load (local.get $top)) (local.get $rowBytes) (local.get $rowWeights) (local.get $rowTaps)
        (local.get $sums))
      (call $sumPixels
        (local.get $sums) (local.get $left) (local.get $columnWeights) (local.get $columnTaps)
        (local.get $columns) (local.get $channels) (local.get $wide))
      (call $roundRow (local.get $wide) (local.get $length) (local.get $out))
      (local.set $out (i32.add (local.get $out) (local.get $length)))
      (local.set $rowWeights
        (i32.add (local.get $rowWeights) (i32.shl (local.get $rowTaps) (i32.const 2))))
      (br_if $row
        (i32.lt_u
          (local.tee $top (i32.add (local.get $top) (i32.const 4)))
          (local.get $end)))))

  ;; 16 bytes of every row at a time.
  (func $sumRows
    (param $rows i32) (param $rowBytes i32) (param $weights i32) (param $taps i32) (param $out i32)
    (local $end i32) (local $at i32) (local $tap i32) (local $lastTap i32)
    (local $w v128) (local $bytes v128) (local $half v128)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128)
    (local.set $end (i32.add (local.get $rows) (local.get $rowBytes)))
    (local.set $lastTap (i32.add (local.get $weights) (i32.shl (local.get $taps) (i32.const 2))))
    (loop $block
      (local.set $at (local.get $rows))
      (local.set $tap (local.get $weights))
      (local.set $a (v128.const f32x4 0 0 0 0))
      (local.set $b (v128.const f32x4 0 0 0 0))
      (local.set $c (v128.const f32x4 0 0 0 0))
      (local.set $d (v128.const f32x4 0 0 0 0))
      (loop $taps
        (local.set $w (v128.load32_splat (local.get $tap)))
        (local.set $bytes (v128.load (local.get $at)))
        (local.set $half (i16x8.extend_low_i8x16_u (local.get $bytes)))
        (local.set $a
          (f32x4.add (local.get $a)
            (f32x4.mul (local.get $w)
              (f32x4.convert_i32x4_s (i32x4.extend_low_i16x8_u (local.get $half))))))
        (local.set $b
          (f32x4.add (local.get $b)
            (f32x4.mul (local.get $w)
              (f32x4.convert_i32x4_s (i32x4.extend_high_i16x8_u (local.get $half))))))
        (local.set $half (i16x8.extend_high_i8x16_u (local.get $bytes)))
        (local.set $c
          (f32x4.add (local.get $c)
            (f32x4.mul (local.get $w)
              (f32x4.convert_i32x4_s (i32x4.extend_low_i16x8_u (local.get $half))))))
        (local.set $d
          (f32x4.add (local.get $d)
            (f32x4.mul (local.get $w)
              (f32x4.convert_i32x4_s (i32x4.extend_high_i16x8_u (local.get $half))))))
        (local.set $at (i32.add (local.get $at) (local.get $rowBytes)))
        (br_if $taps
          (i32.lt_u
            (local.tee $tap (i32.add (local.get $tap) (i32.const 4)))
            (local.get $lastTap))))
      (v128.store (local.get $out) (local.get $a))
      (v128.store offset=16 (local.get $out) (local.get $b))
      (v128.store offset=32 (local.get $out) (local.get $c))
      (v128.store offset=48 (local.get $out) (local.get $d))
      (local.set $out (i32.add (local.get $out) (i32.const 64)))
      (br_if $block
        (i32.lt_u
          (local.tee $rows (i32.add (local.get $rows) (i32.const 16)))
          (local.get $end)))))

  ;; A pixel is read and written as four floats; what is not its own is overwritten or never read.
  (func $sumPixels
    (param $sums i32) (param $left i32) (param $weights i32) (param $taps i32)
    (param $columns i32) (param $channels i32) (param $out i32)
    (local $end i32) (local $at i32) (local $lastTap i32) (local $step i32) (local $tapBytes i32)
    (local $a v128)
    (local.set $end (i32.add (local.get $left) (i32.shl (local.get $columns) (i32.const 2))))
    (local.set $step (i32.shl (local.get $channels) (i32.const 2)))
    (local.set $tapBytes (i32.shl (local.get $taps) (i32.const 2)))
    (loop $column
      (local.set $at (i32.add (local.get $sums) (i32.load (local.get $left))))
      (local.set $lastTap (i32.add (local.get $weights) (local.get $tapBytes)))
      (local.set $a (v128.const f32x4 0 0 0 0))
      (loop $tap
        (local.set $a
          (f32x4.add (local.get $a)
            (f32x4.mul (v128.load (local.get $at)) (v128.load32_splat (local.get $weights)))))
        (local.set $at (i32.add (local.get $at) (local.get $step)))
        (br_if $tap
          (i32.lt_u
            (local.tee $weights (i32.add (local.get $weights) (i32.const 4)))
            (local.get $lastTap))))
      (v128.store (local.get $out) (local.get $a))
      (local.set $out (i32.add (local.get $out) (local.get $step)))
      (br_if $column
        (i32.lt_u
          (local.tee $left (i32.add (local.get $left) (i32.const 4)))
          (local.get $end)))))

  ;; Rounded to the nearest byte, within 0 to 255; $length is rounded up to a multiple of 16.
  (func $roundRow (param $wide i32) (param $length i32) (param $out i32)
    (local $end i32)
    (local.set $end (i32.add (local.get $out) (local.get $length)))
    (loop $block
      (v128.store (local.get $out)
        (i8x16.narrow_i16x8_u
          (i16x8.narrow_i32x4_s
            (i32x4.trunc_sat_f32x4_s
              (f32x4.add (v128.const f32x4 0.5 0.5 0.5 0.5) (v128.load (local.get $wide))))
            (i32x4.trunc_sat_f32x4_s
              (f32x4.add (v128.const f32x4 0.5 0.5 0.5 0.5) (v128.load offset=16 (local.get $wide)))))
          (i16x8.narrow_i32x4_s
            (i32x4.trunc_sat_f32x4_s
              (f32x4.add (v128.const f32x4 0.5 0.5 0.5 0.5) (v128.load offset=32 (local.get $wide))))
            (i32x4.trunc_sat_f32x4_s
              (f32x4.add (v128.const f32x4 0.5 0.5 0.5 0.5) (v128.load offset=48 (local.get $wide)))))))
      (local.set $wide (i32.add (local.get $wide) (i32.const 64)))
      (br_if $block
        (i32.lt_u
          (local.tee $out (i32.add (local.get $out) (i32.const 16)))
          (local.get $end)))))
)
