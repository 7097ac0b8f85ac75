package rest

import (
	"net/http"
	"slices"
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

// listChanges reads the items that were written after the places where the client stands in the ranges of its
// selection, at their latest version, in order of the writes of each range. With nothing to tell it answers 304, never
// an empty page. Either way the ETag is where to go on. The range after the one that filled a page is the first of the
// next page, so that no range waits for another one to be quiet.
func listChanges(e *exchange, v catalog.View, part selection, size int) (status int, err error) {
	if err := e.checkFeedMode(); err != nil {
		return 0, err
	}
	places, err := e.changesAfter(v, part.ranges)
	if err != nil {
		return 0, err
	}
	page := changePage{view: v, scope: part.scope, size: size}
	e.openFeed(containerRID(v.Container), "Documents")
	for i := range places {
		rows := page.rows
		if err := e.changes(&page, &places[i]); err != nil {
			return 0, err
		}
		if page.full {
			if page.rows > rows { // else the page was full before this range
				i++
			}
			places = slices.Concat(places[i:], places[:i])
			break
		}
	}
	e.set(outETag, quotePlaces(places))
	if page.rows == 0 {
		e.reply = e.reply[:0]
		e.set(outItemCount, "0")
		return http.StatusNotModified, nil
	}
	e.charge(feedCharge(page.rows, len(e.reply)))
	e.closeFeed(page.rows)
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

// A changePage is a page of the change feed while it is written.
type changePage struct {
	view  catalog.View
	scope access.Scope
	size  int
	rows  int
	full  bool
}

// changes adds the changes of one range to the page, until it is full, and moves the place behind them. If there are
// none, the place moves to the newest write, as nothing up to there is in the selection. A place beyond the newest
// write moves there too, so that a feed goes on when a container was restored from an older backup.
func (e *exchange) changes(page *changePage, at *feedPlace) error {
	newest, err := e.api.store.NewestIn(e.Context(), page.view, at.number)
	if err != nil {
		return err
	}
	if at.after >= newest {
		at.after = newest
		return nil
	}
	before := page.rows
	for d, err := range e.api.store.Changes(e.Context(), page.view, at.number, page.scope, at.after) {
		if err != nil {
			return err
		}
		if page.rows == 0 {
			if err := e.growReply(shown(d.Body)); err != nil {
				return err
			}
		} else if page.rows == page.size || len(e.reply) >= maxPage || e.growReply(shown(d.Body)) != nil {
			page.full = true
			break
		}
		if page.rows > 0 {
			e.reply = append(e.reply, ',')
		}
		e.reply = appendItem(e.reply, page.view.Container, &d)
		e.reply = strconv.AppendUint(append(e.reply, `,"_lsn":`...), d.Sequence, 10)
		e.reply = append(e.reply, '}')
		at.after = d.Sequence
		page.rows++
	}
	if page.rows > before {
		e.serve(at.number)
	} else if !page.full {
		at.after = newest
	}
	return nil
}

// changesAfter is where the feed begins in each range, in the order in which to read them. `If-None-Match` has an ETag
// of the feed, or `*` to begin now; else `If-Modified-Since` has a time; else the feed begins with the first item.
func (e *exchange) changesAfter(v catalog.View, ranges []catalog.Range) (places []feedPlace, err error) {
	etag := strings.TrimSpace(e.given(hIfNoneMatch))
	if etag != "" && etag != "*" {
		return parsePlaces(etag, ranges)
	}
	since := func(uint16) (uint64, error) { return 0, nil }
	if etag == "*" {
		since = func(number uint16) (uint64, error) { return e.api.store.NewestIn(e.Context(), v, number) }
	} else if text := strings.TrimSpace(e.given(hIfModifiedSince)); text != "" {
		at, err := parseHTTPTime(text)
		if err != nil {
			return nil, err
		}
		since = func(number uint16) (uint64, error) {
			return e.api.store.SequenceAt(e.Context(), v, number, at.Unix())
		}
	}
	places = make([]feedPlace, len(ranges))
	for i := range ranges {
		places[i].number = ranges[i].Number
		if places[i].after, err = since(ranges[i].Number); err != nil {
			return nil, err
		}
	}
	return places, nil
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
