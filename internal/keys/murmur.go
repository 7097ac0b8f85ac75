package keys

import (
	"encoding/binary"
	"math/bits"
)

// murmur32 is MurmurHash3_x86_32 with seed 0.
func murmur32(b []byte) uint32 {
	const c1, c2 = 0xcc9e2d51, 0x1b873593
	var h uint32
	size := uint32(len(b))
	for ; len(b) >= 4; b = b[4:] {
		h ^= bits.RotateLeft32(binary.LittleEndian.Uint32(b)*c1, 15) * c2
		h = bits.RotateLeft32(h, 13)*5 + 0xe6546b64
	}
	var k uint32
	for i, x := range b {
		k |= uint32(x) << (8 * i)
	}
	h ^= bits.RotateLeft32(k*c1, 15) * c2
	h ^= size
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

// murmur128 is MurmurHash3_x64_128 with seed 0.
func murmur128(b []byte) (low, high uint64) {
	const c1, c2 = 0x87c37b91114253d5, 0x4cf5ad432745937f
	var h1, h2 uint64
	size := uint64(len(b))
	for ; len(b) >= 16; b = b[16:] {
		h1 ^= bits.RotateLeft64(binary.LittleEndian.Uint64(b)*c1, 31) * c2
		h1 = (bits.RotateLeft64(h1, 27)+h2)*5 + 0x52dce729
		h2 ^= bits.RotateLeft64(binary.LittleEndian.Uint64(b[8:])*c2, 33) * c1
		h2 = (bits.RotateLeft64(h2, 31)+h1)*5 + 0x38495ab5
	}
	var tail [16]byte
	copy(tail[:], b)
	h1 ^= bits.RotateLeft64(binary.LittleEndian.Uint64(tail[:])*c1, 31) * c2
	h2 ^= bits.RotateLeft64(binary.LittleEndian.Uint64(tail[8:])*c2, 33) * c1

	h1, h2 = h1^size, h2^size
	h1 += h2
	h2 += h1
	h1, h2 = mix64(h1), mix64(h2)
	h1 += h2
	return h1, h2 + h1
}

func mix64(k uint64) uint64 {
	k = (k ^ k>>33) * 0xff51afd7ed558ccd
	k = (k ^ k>>33) * 0xc4ceb9fe1a85ec53
	return k ^ k>>33
}
