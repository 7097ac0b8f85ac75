package tikv

import (
	"context"
	"encoding/binary"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A value never is empty on TiKV, because the client takes an empty one for a deletion. The first byte says how the
// rest is stored: whole, or as a header that says where its chunks are.
const (
	whole   = 0
	chunked = 1
)

// chunkBytes is the largest value that is stored whole, and the size of the chunks of a larger one. It keeps a page of
// an iterator small, and each value far below a Raft entry's limit of 8 MiB (raftstore.raft-entry-max-size).
const chunkBytes = 256 << 10

// An identity tells a large value from all others: the start timestamp of the transaction that wrote it, which no other
// transaction has, and its number there.
type identity [12]byte

const chunkSuffix = len(identity{}) + 4 // the number of a chunk

// A header stands where the value would. The chunks are at the same key among chunkKeys, followed by the identity and
// their number.
type header struct {
	id          identity
	size, chunk uint64 // bytes of the value, and of each chunk but the last
}

func (h header) chunks() uint64 { return (h.size + h.chunk - 1) / h.chunk }

func (h header) encode() []byte {
	b := append([]byte{chunked}, h.id[:]...)
	b = binary.AppendUvarint(b, h.size)
	return binary.AppendUvarint(b, h.chunk)
}

func decodeHeader(stored []byte) (h header, ok bool) {
	rest := stored[1:]
	if len(rest) < len(h.id) {
		return h, false
	}
	rest = rest[copy(h.id[:], rest):]
	for _, n := range []*uint64{&h.size, &h.chunk} {
		v, length := binary.Uvarint(rest)
		if length <= 0 {
			return h, false
		}
		*n, rest = v, rest[length:]
	}
	return h, h.chunk > 0 && h.size <= kv.MaxBatchBytes && h.chunks() <= h.size
}

// chunkKey is the place of chunk i of the value that key had at the time.
func (s space) chunkKey(key []byte, id identity, i uint64) []byte {
	full := append(s.of(chunkKeys, key), id[:]...)
	return binary.BigEndian.AppendUint32(full, uint32(i))
}

// A record tells the garbage collector of a large value: how many chunks it has, and for which key. It is written with
// the value, and goes with its chunks when the key no longer has that value. Those who overwrite or delete the key need
// not read it first.
func recordOf(key []byte, chunks uint64) []byte {
	return append(binary.AppendUvarint(nil, chunks), key...)
}

func decodeRecord(record []byte) (key []byte, chunks uint64, ok bool) {
	chunks, n := binary.Uvarint(record)
	if n <= 0 || chunks > kv.MaxBatchBytes {
		return nil, 0, false
	}
	return record[n:], chunks, true
}

// chunksAtOnce bounds the bytes that one request for chunks returns: 4 MiB.
const chunksAtOnce = 4 << 20 / chunkBytes

// assemble gives the value that is stored at key as stored.
func (r *reader) assemble(ctx context.Context, key, stored []byte) ([]byte, error) {
	if len(stored) == 0 {
		return nil, damaged()
	}
	if stored[0] == whole {
		return stored[1:], nil
	}
	h, ok := decodeHeader(stored)
	if !ok || stored[0] != chunked {
		return nil, damaged()
	}
	value := make([]byte, 0, h.size)
	for i := uint64(0); i < h.chunks(); i += chunksAtOnce {
		n := min(chunksAtOnce, h.chunks()-i)
		keys := make([][]byte, n)
		for k := range keys {
			keys[k] = r.e.space.chunkKey(key, h.id, i+uint64(k))
		}
		got, err := r.batch(ctx, append([][]byte(nil), keys...))
		if err != nil {
			return nil, err
		}
		for _, k := range keys {
			value = append(value, got[string(k)]...)
		}
	}
	if uint64(len(value)) != h.size {
		return nil, damaged()
	}
	return value, nil
}

func damaged() error { return fault.New(fault.Corrupt, "a stored value is damaged") }
