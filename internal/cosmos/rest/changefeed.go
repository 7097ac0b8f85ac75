package rest

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/fault"
)

// Values of the A-IM header, compared without regard to case.
const (
	latestVersions = "Incremental Feed"
	allVersions    = "Full-Fidelity Feed"
)

var errAllVersions = fault.New(fault.Unsupported,
	"The change feed of all versions and deletes is not built yet. Read the latest versions: A-IM: "+latestVersions+".")

// listChanges reads the items that were written after the place where the client
// stands, at their latest version, in order of their writes. With nothing to tell
// it answers 304, never an empty page. Either way the ETag is where to go on.
func listChanges(e *exchange, v catalog.View, scope access.Scope, size int) (status int, err error) {
	if err := e.checkFeedMode(); err != nil {
		return 0, err
	}
	newest, err := e.api.store.Sequence(e.Context(), v.Container)
	if err != nil {
		return 0, err
	}
	after, err := e.changesAfter(v, newest)
	if err != nil {
		return 0, err
	}
	last, rows := after, 0
	if after < newest {
		if last, rows, err = e.changes(v, scope, after, size); err != nil {
			return 0, err
		}
	}
	if rows == 0 {
		e.reply = e.reply[:0]
		e.set(outItemCount, "0")
		e.set(outETag, quoteLSN(newest)) // nothing up to here matches the selection
		return http.StatusNotModified, nil
	}
	e.set(outETag, quoteLSN(last))
	return http.StatusOK, nil
}

// checkFeedMode rejects every change feed mode except that of the latest versions.
func (e *exchange) checkFeedMode() error {
	switch mode := strings.TrimSpace(e.given(hFeed)); {
	case strings.EqualFold(mode, allVersions):
		return errAllVersions
	case mode != "" && !strings.EqualFold(mode, latestVersions):
		return badHeader(mode, hFeed, "Send '"+latestVersions+"'.")
	}
	return nil
}

// changes writes one page, and returns the sequence of its last item.
func (e *exchange) changes(
	v catalog.View, scope access.Scope, after uint64, size int,
) (last uint64, rows int, err error) {
	e.openFeed(containerRID(v.Container), "Documents")
	for d, err := range e.api.store.Changes(e.Context(), v, scope, after) {
		if err != nil {
			return 0, 0, err
		}
		if rows == 0 {
			if err := e.growReply(shown(d.Body)); err != nil {
				return 0, 0, err
			}
		} else if rows == size || len(e.reply) >= maxPage || e.growReply(shown(d.Body)) != nil {
			break
		}
		if rows > 0 {
			e.reply = append(e.reply, ',')
		}
		e.reply = appendItem(e.reply, v.Container, &d)
		e.reply = strconv.AppendUint(append(e.reply, `,"_lsn":`...), d.Sequence, 10)
		e.reply = append(e.reply, '}')
		last = d.Sequence
		rows++
	}
	if rows > 0 {
		e.charge(feedCharge(rows, len(e.reply)))
		e.closeFeed(rows)
	}
	return last, rows, nil
}

// changesAfter is the sequence number after which the feed begins. `If-None-Match` has an ETag of the feed, or `*` to
// begin now; else `If-Modified-Since` has a time; else the feed begins with the first item. A position beyond the
// newest write also means now, so that a feed continues when a container was restored from an older backup.
func (e *exchange) changesAfter(v catalog.View, newest uint64) (uint64, error) {
	if text := strings.TrimSpace(e.given(hIfNoneMatch)); text != "" {
		if text == "*" {
			return newest, nil
		}
		after, err := parseLSN(text)
		return min(after, newest), err
	}
	text := strings.TrimSpace(e.given(hIfModifiedSince))
	if text == "" {
		return 0, nil
	}
	at, err := parseHTTPTime(text)
	if err != nil {
		return 0, err
	}
	after, err := e.api.store.SequenceAt(e.Context(), v, at.Unix())
	return min(after, newest), err
}

func quoteLSN(sequence uint64) string {
	return string(append(strconv.AppendUint([]byte{'"'}, sequence, 10), '"'))
}

// parseLSN parses the output of quoteLSN. Proxies and clients may have removed the quotes.
func parseLSN(text string) (uint64, error) {
	n, err := strconv.ParseUint(strings.Trim(strings.TrimPrefix(text, "W/"), `"`), 10, 64)
	if err != nil {
		return 0, badHeader(text, hIfNoneMatch,
			"Send the ETag of the last answer of the change feed, or * to begin now.")
	}
	return n, nil
}

// parseHTTPTime parses the time of a header. RFC 9110 requires the zone GMT, but azcosmos writes UTC.
func parseHTTPTime(text string) (time.Time, error) {
	if head, ok := strings.CutSuffix(text, " UTC"); ok {
		text = head + " GMT"
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return at, badHeader(text, hIfModifiedSince, "Send a time such as 'Sun, 06 Nov 1994 08:49:37 GMT'.")
	}
	return at, nil
}
