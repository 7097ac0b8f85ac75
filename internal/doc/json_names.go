package doc

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
)

// A member is a name of an object that is being read, kept to find a later member
// with the same name.
type member struct {
	hash uint32
	at   int // of the element in the output
}

// A scope is the set of names of one object: Builder.seen from base on.
type scope struct {
	base     int
	bloom    uint64 // a bit for each hash, so that most new names need no comparison
	repeated bool
}

// fewNames is the number of members up to which a new name is compared with each of
// them. The names of larger objects are sorted at the end, so that the work does not
// grow with the square of their number.
const fewNames = 32

func (b *Builder) note(s *scope, at int, name []byte) {
	hash := hashName(name)
	bit := uint64(1) << (hash & 63)
	if s.bloom&bit != 0 && !s.repeated && len(b.seen)-s.base <= fewNames {
		for _, m := range b.seen[s.base:] {
			if m.hash == hash && bytes.Equal(nameAt(b.out, m.at), name) {
				s.repeated = true
			}
		}
	}
	s.bloom |= bit
	b.seen = append(b.seen, member{hash: hash, at: at})
}

// forget ends the scope of an object, and removes members whose name is repeated.
func (b *Builder) forget(s scope) {
	members := b.seen[s.base:]
	if s.repeated || len(members) > fewNames {
		b.out = removeRepeated(b.out, members)
	}
	b.seen = b.seen[:s.base]
}

// removeRepeated removes all but the last of members with the same name. The members
// are at the end of the output, and their object is not closed yet.
func removeRepeated(out []byte, members []member) []byte {
	slices.SortFunc(members, func(a, b member) int {
		if c := cmp.Compare(a.hash, b.hash); c != 0 {
			return c
		}
		return cmp.Or(bytes.Compare(nameAt(out, a.at), nameAt(out, b.at)), cmp.Compare(a.at, b.at))
	})
	var gone []int
	for i, m := range members[1:] {
		before := members[i]
		if m.hash == before.hash && bytes.Equal(nameAt(out, before.at), nameAt(out, m.at)) {
			gone = append(gone, before.at)
		}
	}
	if len(gone) == 0 {
		return out
	}
	slices.Sort(gone)
	end := gone[0]
	for i, at := range gone {
		e, _ := next(out[at:])
		until := len(out)
		if i+1 < len(gone) {
			until = gone[i+1]
		}
		end += copy(out[end:], out[at+e.size:until])
	}
	return out[:end]
}

// nameAt is the name of the element at an offset.
func nameAt(out []byte, at int) []byte {
	name := out[at+1:]
	return name[:bytes.IndexByte(name, 0)]
}

// hashName uses the length and at most 16 bytes. An attacker who makes names collide
// causes comparisons of their bytes, and nothing worse.
func hashName(name []byte) uint32 {
	n := len(name)
	h := uint64(n)
	switch {
	case n >= 8:
		h += binary.LittleEndian.Uint64(name) ^ bits.RotateLeft64(binary.LittleEndian.Uint64(name[n-8:]), 29)
	case n >= 4:
		h += uint64(binary.LittleEndian.Uint32(name)) ^ uint64(binary.LittleEndian.Uint32(name[n-4:]))<<32
	default:
		for _, c := range name {
			h = h<<8 | uint64(c)
		}
	}
	return uint32(h * 0x9E3779B97F4A7C15 >> 32)
}
