package rest

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// appendText appends `,"name":"text"`.
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
func appendETagMember(dst []byte, v access.Version) []byte {
	return appendQuotedETag(append(dst, `,"_etag":`...), v)
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

// checkConditions checks the request's conditions against the version of a resource: If-Match fails a write,
// If-None-Match ends a read with 304.
func (e *exchange) checkConditions(v access.Version) error {
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
	errStale = fault.New(fault.Precondition,
		"One of the specified pre-condition is not met. The resource has another ETag: read it again.")
	errNotModified = fault.New(fault.NotModified, "The resource has not changed.")
)

// afterPrefix begins the continuation token of a feed of small resources. The number of the last resource follows it,
// which stays valid when other resources are created or deleted.
const afterPrefix = "after:"

var errContinuation = fault.New(fault.Invalid,
	"Invalid Continuation Token. Send the one that came with the page before, unchanged.")

// answerFeed answers a feed of small resources in order of creation: the requested page, and a continuation token if
// more rows are left. number is the number of a resource, and row appends one to e.reply.
func answerFeed[T any](e *exchange, owner rid, key string, list []T, number func(T) uint64, row func(T) error) (int,
	error) {
	size, err := e.pageSize()
	if err != nil {
		return 0, err
	}
	if !e.feed.whole {
		list, err = afterToken(e.given(hContinuation), list, number)
	}
	if err != nil {
		return 0, err
	}
	e.openFeed(owner, key)
	rows := 0
	for _, r := range list {
		if e.feed.whole {
			e.feed.numbers = append(e.feed.numbers, number(r))
		} else if rows == size || rows > 0 && len(e.reply) >= maxPage {
			e.set(outContinuation, afterPrefix+strconv.FormatUint(number(list[rows-1]), 10))
			break
		}
		if rows > 0 {
			e.reply = append(e.reply, ',')
		}
		if err := row(r); err != nil {
			return 0, err
		}
		rows++
	}
	e.closeFeed(rows)
	return http.StatusOK, nil
}

// afterToken is the part of a list after the position of a continuation token, or all of it if the token is "".
func afterToken[T any](token string, list []T, number func(T) uint64) ([]T, error) {
	if token == "" {
		return list, nil
	}
	digits, ok := strings.CutPrefix(token, afterPrefix)
	after, err := strconv.ParseUint(digits, 10, 64)
	if !ok || err != nil {
		return nil, errContinuation
	}
	at, found := slices.BinarySearchFunc(list, after, func(r T, n uint64) int { return cmp.Compare(number(r), n) })
	if found {
		at++
	}
	return list[at:], nil
}
