package rest

import (
	"strconv"
	"strings"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/store"
)

// neverVersion is a version that no resource ever has. It stands for an ETag that mayfly did not issue.
var neverVersion = &access.Version{Sequence: 1<<64 - 1, Stamp: -1}

// etagLen is the length of an ETag including its quotes.
const etagLen = 38

// appendETag appends the quoted ETag of a version in the service's form: `"6201c25e-0000-0100-0000-6ac9ff4d0000"`, in
// which the last group is the timestamp in hex and four zeros. The low bits of the sequence number are in the first
// two groups and its high bits replace the four zeros, so that parseETag restores every version.
func appendETag(dst []byte, v access.Version) []byte {
	seq, stamp := v.Sequence, uint64(v.Stamp)
	dst = append(dst, '"')
	dst = appendHex(dst, seq, 8)
	dst = append(dst, '-')
	dst = appendHex(dst, seq>>32, 4)
	dst = append(dst, "-0100-"...)
	dst = appendHex(dst, stamp>>32, 4)
	dst = append(dst, '-')
	dst = appendHex(dst, stamp, 8)
	dst = appendHex(dst, seq>>48, 4)
	return append(dst, '"')
}

func appendHex(dst []byte, n uint64, digits int) []byte {
	for shift := 4 * (digits - 1); shift >= 0; shift -= 4 {
		dst = append(dst, "0123456789abcdef"[n>>shift&15])
	}
	return dst
}

// ETag is the quoted ETag of a version.
func ETag(v access.Version) string { return string(appendETag(nil, v)) }

// ParseETag parses the value of If-Match, as parseETag does.
func ParseETag(text string) *access.Version { return parseETag(text) }

// parseETag parses the value of If-Match or If-None-Match, quoted or not, weak or not. `*` is store.AnyVersion, "" is
// nil (no condition), and an ETag that mayfly did not issue is a version that nothing has.
func parseETag(text string) *access.Version {
	text = strings.TrimPrefix(strings.TrimSpace(text), "W/")
	switch text {
	case "":
		return nil
	case "*":
		return store.AnyVersion
	}
	if v, ok := parseVersion(strings.Trim(text, `"`)); ok {
		return &v
	}
	return neverVersion
}

func parseVersion(text string) (access.Version, bool) {
	if len(text) != etagLen-2 || text[8] != '-' || text[13:19] != "-0100-" || text[23] != '-' {
		return access.Version{}, false
	}
	var part [5]uint64
	for i, digits := range [...]string{text[:8], text[9:13], text[19:23], text[24:32], text[32:]} {
		n, err := strconv.ParseUint(digits, 16, 32)
		if err != nil {
			return access.Version{}, false
		}
		part[i] = n
	}
	return access.Version{
		Sequence: part[0] | part[1]<<32 | part[4]<<48,
		Stamp:    int64(part[2]<<32 | part[3]),
	}, true
}
