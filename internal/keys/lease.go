package keys

import "encoding/binary"

// LeaseKey is the key of a piece of background work that one process at a time does. Its value is a Lease.
func LeaseKey(name string) []byte { return append(System("lease"), name...) }

// LeaseName is the name in a key that LeaseKey made.
func LeaseName(key []byte) (string, error) {
	size := len(System("lease"))
	if len(key) <= size {
		return "", ErrCorrupt
	}
	return string(key[size:]), nil
}

// LeaseBounds encloses all leases.
func LeaseBounds() (lower, upper []byte) { return System("lease"), End(System("lease")) }

// HolderKey is the key of a process that holds leases. Its value, AppendHolder, says until when.
func HolderKey(holder string) []byte { return append(System("holder"), holder...) }

// HolderName is the name in a key that HolderKey made.
func HolderName(key []byte) (string, error) {
	size := len(System("holder"))
	if len(key) <= size {
		return "", ErrCorrupt
	}
	return string(key[size:]), nil
}

// HolderBounds encloses all processes that hold leases.
func HolderBounds() (lower, upper []byte) { return System("holder"), End(System("holder")) }

// A Lease says which process does a piece of work.
type Lease struct {
	Epoch  uint64 // rises with every change of hands
	Since  int64  // milliseconds since 1970, by the engine's clock: when this holder has taken it
	Holder string // empty if it was released
}

const leaseBytes = 2 * 8

// Append appends the stored form of a lease: two big-endian integers, then the holder.
func (l Lease) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, l.Epoch)
	dst = binary.BigEndian.AppendUint64(dst, uint64(l.Since))
	return append(dst, l.Holder...)
}

// DecodeLease reads the form of Append.
func DecodeLease(value []byte) (Lease, error) {
	if len(value) < leaseBytes {
		return Lease{}, ErrCorrupt
	}
	return Lease{
		Epoch:  binary.BigEndian.Uint64(value),
		Since:  int64(binary.BigEndian.Uint64(value[8:])),
		Holder: string(value[leaseBytes:]),
	}, nil
}

// AppendHolder appends until when a process holds its leases, in milliseconds since 1970 by the engine's clock.
func AppendHolder(dst []byte, until int64) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(until))
}

// DecodeHolder reads the form of AppendHolder.
func DecodeHolder(value []byte) (until int64, err error) {
	if len(value) != 8 {
		return 0, ErrCorrupt
	}
	return int64(binary.BigEndian.Uint64(value)), nil
}
