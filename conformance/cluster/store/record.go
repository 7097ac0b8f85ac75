package store

import (
	"encoding/binary"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/pingcap/kvproto/pkg/kvrpcpb"
)

// A lock is what a transaction that has not ended has on a key: who it is, and
// the value to be.
type lock struct {
	kvrpcpb.LockInfo
	value []byte
}

func (l *lock) pessimistic() bool { return l.LockType == kvrpcpb.Op_PessimisticLock }

func (l *lock) marshal() ([]byte, error) {
	info, err := l.Marshal()
	if err != nil {
		return nil, err
	}
	out := binary.AppendUvarint(nil, uint64(len(info)))
	return append(append(out, info...), l.value...), nil
}

func unmarshalLock(data []byte) (*lock, error) {
	n, size := binary.Uvarint(data)
	if size <= 0 || uint64(len(data)-size) < n {
		return nil, fmt.Errorf("lock of %d bytes is cut off", len(data))
	}
	l := &lock{value: data[size+int(n):]}
	return l, l.Unmarshal(data[size : size+int(n)])
}

// A version is what a committed transaction left on a key.
type version struct {
	op                kvrpcpb.Op // Put, Del, or Lock: the key was locked, its value is the one before
	startTS, commitTS uint64
	value             []byte
}

func (v *version) marshal() []byte {
	return append(binary.AppendUvarint([]byte{byte(v.op)}, v.startTS), v.value...)
}

func unmarshalVersion(commitTS uint64, data []byte) (*version, error) {
	if len(data) < 2 {
		return nil, fmt.Errorf("version of %d bytes", len(data))
	}
	start, size := binary.Uvarint(data[1:])
	if size <= 0 {
		return nil, fmt.Errorf("version without its transaction")
	}
	value := append([]byte{}, data[1+size:]...)
	return &version{op: kvrpcpb.Op(data[0]), startTS: start, commitTS: commitTS, value: value}, nil
}

// lockOf returns the lock on key, nil for none.
func lockOf(r pebble.Reader, key []byte) (*lock, error) {
	data, err := get(r, lockKey(key))
	if data == nil || err != nil {
		return nil, err
	}
	return unmarshalLock(data)
}

// versions gives each version of key, newest first, to f until f says false.
func versions(r pebble.Reader, key []byte, from uint64, f func(*version) bool) error {
	it, err := space(r, writeSpace, writeKey(key, from), past(key))
	if err != nil {
		return err
	}
	defer it.Close()
	for ok := it.First(); ok; ok = it.Next() {
		v, err := versionAt(it)
		if err != nil {
			return err
		}
		if !f(v) {
			return nil
		}
	}
	return it.Error()
}

func versionAt(it *pebble.Iterator) (*version, error) {
	_, ts, err := userKey(it.Key())
	if err != nil {
		return nil, err
	}
	data, err := it.ValueAndErr()
	if err != nil {
		return nil, err
	}
	return unmarshalVersion(ts, data)
}

// newest returns the newest version of key, mere locks included; nil for none.
func newest(r pebble.Reader, key []byte) (found *version, err error) {
	err = versions(r, key, ^uint64(0), func(v *version) bool { found = v; return false })
	return found, err
}

// valueAt returns the value of key as of ts, and whether it exists.
func valueAt(r pebble.Reader, key []byte, ts uint64) (value []byte, exists bool, err error) {
	err = versions(r, key, ts, func(v *version) bool {
		value, exists = v.value, v.op == kvrpcpb.Op_Put
		return v.op == kvrpcpb.Op_Lock
	})
	if !exists {
		value = nil
	}
	return value, exists, err
}

// committed returns the version that the transaction left on key, nil for none.
func committed(r pebble.Reader, key []byte, startTS uint64) (found *version, err error) {
	err = versions(r, key, ^uint64(0), func(v *version) bool {
		if v.startTS == startTS {
			found = v
		}
		return found == nil && v.commitTS > startTS
	})
	return found, err
}

// rolledBack says whether the transaction may no longer write key.
func rolledBack(r pebble.Reader, key []byte, startTS uint64) (bool, error) {
	data, err := get(r, rollbackKey(key, startTS))
	return data != nil, err
}

// putLock, commitLock and dropLock change one key in a batch.
func putLock(b *pebble.Batch, l *lock) error {
	data, err := l.marshal()
	if err != nil {
		return err
	}
	return b.Set(lockKey(l.Key), data, nil)
}

func dropLock(b *pebble.Batch, key []byte) error { return b.Delete(lockKey(key), nil) }

// commitLock turns a lock into a version. Of a pessimistic lock, which has no
// value, nothing is left.
func commitLock(b *pebble.Batch, l *lock, commitTS uint64) error {
	if !l.pessimistic() {
		v := &version{op: l.LockType, startTS: l.LockVersion, value: l.value}
		if err := b.Set(writeKey(l.Key, commitTS), v.marshal(), nil); err != nil {
			return err
		}
	}
	return dropLock(b, l.Key)
}

// rollback ends a transaction on key for good.
func rollback(b *pebble.Batch, key []byte, startTS uint64) error {
	return b.Set(rollbackKey(key, startTS), []byte{1}, nil)
}
