package rest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// appendText appends `"name":"text"` and a comma before it.
func appendText(dst []byte, name, text string) []byte {
	dst = append(dst, `,"`...)
	dst = append(dst, name...)
	dst = append(dst, `":`...)
	return doc.AppendJSONString(dst, text)
}

// appendRID appends `,"name":"<rid>"`.
func appendRID(dst []byte, name string, r rid) []byte {
	dst = append(dst, `,"`...)
	dst = append(dst, name...)
	dst = append(dst, `":"`...)
	return append(r.append(dst), '"')
}

// appendETagMember appends `,"_etag":"\"…\""`.
func appendETagMember(dst []byte, v store.Version) []byte {
	dst = append(dst, `,"_etag":"\`...)
	dst = appendETag(dst, v)
	dst[len(dst)-1] = '\\'
	return append(dst, `""`...)
}

// appendStamp appends `,"_ts":n`.
func appendStamp(dst []byte, stamp expiry.Stamp) []byte {
	dst = append(dst, `,"_ts":`...)
	return strconv.AppendInt(dst, stamp, 10)
}

// appendSelf appends `,"_self":"dbs/<rid>/colls/<rid>/"` for pairs of segment and RID.
func appendSelf(dst []byte, pairs ...link) []byte {
	dst = append(dst, `,"_self":"`...)
	return append(appendLink(dst, pairs...), '"')
}

// A link is one step of a link by RID.
type link struct {
	segment string
	rid     rid
}

func appendLink(dst []byte, pairs ...link) []byte {
	for _, p := range pairs {
		dst = append(dst, p.segment...)
		dst = append(dst, '/')
		dst = p.rid.append(dst)
		dst = append(dst, '/')
	}
	return dst
}

// stale decides the conditions of a request on a resource that has version v:
// If-Match fails a write, If-None-Match ends a read.
func (e *exchange) stale(v store.Version) error {
	if want := e.ifMatch(); want != nil && want != store.AnyVersion && *want != v {
		return errStale
	}
	if want := e.ifNoneMatch(); want != nil && (want == store.AnyVersion || *want == v) {
		if e.Method == "GET" {
			e.etag(v)
			return errNotModified
		}
		return errStale
	}
	return nil
}

var (
	errStale       = fault.New(fault.Precondition, "One of the specified pre-condition is not met. The resource has another ETag: read it again.")
	errNotModified = fault.New(fault.NotModified, "The resource has not changed.")
)

// afterPrefix begins the continuation of a feed of small resources: the
// number of the last one, which stays right whatever is created or deleted meanwhile.
const afterPrefix = "after:"

var errContinuation = fault.New(fault.Invalid, "Invalid Continuation Token. Send the one that came with the page before, unchanged.")

// pageOf cuts the page that a request asks for out of a list in order of
// creation, and sends the continuation when more is left.
func pageOf[T any](e *exchange, list []T, number func(T) uint64) ([]T, error) {
	size, err := e.pageSize()
	if err != nil {
		return nil, err
	}
	if token := e.given(hContinuation); token != "" {
		digits, ok := strings.CutPrefix(token, afterPrefix)
		after, err := strconv.ParseUint(digits, 10, 64)
		if !ok || err != nil {
			return nil, errContinuation
		}
		at, found := slices.BinarySearchFunc(list, after, func(r T, n uint64) int {
			return int(min(max(int64(number(r)-n), -1), 1))
		})
		if found {
			at++
		}
		list = list[at:]
	}
	if len(list) > size {
		list = list[:size]
		e.set(hContinuation, afterPrefix+strconv.FormatUint(number(list[size-1]), 10))
	}
	return list, nil
}
