package keys

import "encoding/binary"

// Bounds are intervals [lower, upper), as engines expect them. The functions here
// allocate both keys.

// Prefixed returns the bounds of all keys that begin with prefix.
func Prefixed(prefix []byte) (lower, upper []byte) { return prefix, End(prefix) }

// ContainerBounds encloses every key of a container.
func ContainerBounds(container uint32) (lower, upper []byte) {
	return Prefixed(binary.BigEndian.AppendUint32([]byte{spaceContainer}, container))
}

// RangeBounds encloses every key of the range.
func (r Range) RangeBounds() (lower, upper []byte) {
	return Prefixed(binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint32([]byte{spaceContainer}, r.Container),
		r.Range))
}

// Bounds encloses every key of a kind.
func (r Range) Bounds(kind Kind) (lower, upper []byte) {
	return Prefixed(r.AppendPrefix(nil, kind))
}

// PartitionBounds encloses the keys of a partition, or of a prefix of a hierarchical
// one, within KindLookup or KindPosting.
func (r Range) PartitionBounds(kind Kind, partition []byte) (lower, upper []byte) {
	return Prefixed(append(r.AppendPrefix(nil, kind), partition...))
}

// EPKBounds encloses the keys, within KindLookup or KindPosting, of partitions whose
// effective partition key is in [from, to); an empty to means no bound. A bound that is
// longer than one hash is cut after the first, and then encloses a little more: the caller
// checks each partition with InEPKRange.
func (r Range) EPKBounds(kind Kind, version PartitionVersion, multi bool, from, to []byte) (lower, upper []byte) {
	lower = append(r.AppendPrefix(nil, kind), firstHash(from, version, multi)...)
	if len(to) == 0 {
		return lower, End(r.AppendPrefix(nil, kind))
	}
	first := firstHash(to, version, multi)
	upper = append(r.AppendPrefix(nil, kind), first...)
	if len(first) < len(to) {
		upper = End(upper)
	}
	return lower, upper
}

// firstHash cuts off what follows the first complete effective partition key.
func firstHash(epk []byte, version PartitionVersion, multi bool) []byte {
	if size, ok := epkBytes(epk, version, multi, 1); ok {
		return epk[:size]
	}
	return epk
}

// GenerationBounds encloses one generation of KindEntry or KindComposite.
func (r Range) GenerationBounds(kind Kind, generation uint16) (lower, upper []byte) {
	return Prefixed(binary.BigEndian.AppendUint16(r.AppendPrefix(nil, kind), generation))
}
