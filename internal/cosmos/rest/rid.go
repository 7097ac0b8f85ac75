package rest

import (
	"encoding/base64"
	"encoding/binary"
	"strings"

	"github.com/mayflydb/mayfly/internal/catalog"
)

// ridEncoding is the text form of a RID: padded base64 with `-` in place of `/`.
var ridEncoding = base64.NewEncoding("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-").Strict()

// A ridType is the type of a resource in a container, in the high nibble of the last byte of a 16-byte RID.
type ridType byte

// The types of resources in a container. Permissions, which belong to a user, have none.
const (
	documentRID  ridType = 0x0
	rangeRID     ridType = 0x5
	functionRID  ridType = 0x6
	triggerRID   ridType = 0x7
	procedureRID ridType = 0x8
)

// maxRIDNumber is the largest number that leaves the type nibble free.
const maxRIDNumber = 1<<60 - 1

// A rid is a parsed resource id. SDKs parse RIDs to find the owners of a resource, so the bytes must have the
// service's layout: four for the database, four for the container (first bit set) or the user (first bit clear), and
// eight, little-endian, for the resource below. An offer has three bytes.
type rid struct {
	database  uint32
	container uint32 // 0 if none
	user      uint64 // 0 if none; 31 bits
	kind      ridType
	number    uint64 // of the resource in a container, or of the permission of a user
	hasNumber bool
	offer     uint64 // 24 bits, alone
}

// containerBit distinguishes a container from a user in the second four bytes.
const containerBit = 1 << 31

// append appends the text form.
func (r rid) append(dst []byte) []byte {
	var raw [16]byte
	return ridEncoding.AppendEncode(dst, r.bytes(raw[:0]))
}

func (r rid) String() string { return string(r.append(nil)) }

func (r rid) bytes(dst []byte) []byte {
	if r.offer != 0 {
		return append(dst, byte(r.offer), byte(r.offer>>8), byte(r.offer>>16))
	}
	dst = binary.LittleEndian.AppendUint32(dst, r.database)
	switch {
	case r.container != 0:
		dst = binary.BigEndian.AppendUint32(dst, r.container|containerBit)
	case r.user != 0:
		dst = binary.BigEndian.AppendUint32(dst, uint32(r.user)&^containerBit)
	}
	if r.hasNumber {
		dst = binary.LittleEndian.AppendUint64(dst, r.number|uint64(r.kind)<<60)
	}
	return dst
}

// parseRID parses the text form.
func parseRID(text string) (rid, bool) {
	if len(text) > 24 || strings.ContainsAny(text, "\r\n") { // base64 would skip these
		return rid{}, false
	}
	var buf [18]byte
	raw, err := ridEncoding.AppendDecode(buf[:0], []byte(text))
	if err != nil {
		return rid{}, false
	}
	r, ok := splitRID(raw)
	return r, ok
}

func splitRID(raw []byte) (r rid, ok bool) {
	switch len(raw) {
	case 3:
		r.offer = uint64(raw[0]) | uint64(raw[1])<<8 | uint64(raw[2])<<16
		return r, r.offer != 0
	case 4, 8, 16:
	default:
		return r, false
	}
	r.database = binary.LittleEndian.Uint32(raw)
	if r.database == 0 {
		return r, false
	}
	if len(raw) >= 8 && !r.splitOwner(binary.BigEndian.Uint32(raw[4:])) {
		return rid{}, false
	}
	if len(raw) == 16 {
		number := binary.LittleEndian.Uint64(raw[8:])
		r.number, r.kind, r.hasNumber = number&maxRIDNumber, ridType(number>>60), true
	}
	return r, true
}

func (r *rid) splitOwner(n uint32) bool {
	if n&containerBit != 0 {
		r.container = n &^ containerBit
		return r.container != 0
	}
	r.user = uint64(n)
	return n != 0
}

func databaseRID(db *catalog.Database) rid { return rid{database: db.ID} }

func containerRID(c *catalog.Container) rid {
	return rid{database: c.Database.ID, container: c.ID}
}

// in is the RID of a resource in container c.
func (kind ridType) in(c *catalog.Container, number uint64) rid {
	return rid{database: c.Database.ID, container: c.ID, kind: kind, number: number, hasNumber: true}
}

func offerRID(number uint64) rid { return rid{offer: number} }
