package rest

import (
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/fault"
)

// maxPage is roughly the largest size of a page of a feed in bytes. A page always has at least one item, however
// large.
const maxPage = 4 << 20

// maxEPK is the longest effective partition key in a header, in characters.
const maxEPK = 1024

// listItems answers one page of the items of a container, or of a part of it, in order of creation. With an A-IM
// header it answers the change feed instead.
func listItems(e *exchange) (status int, err error) {
	v, err := e.enterItems()
	if err != nil {
		return 0, err
	}
	scope, err := feedScope(e, v.State)
	if err != nil {
		return 0, err
	}
	size, err := e.pageSize()
	if err != nil {
		return 0, err
	}
	if e.given(hFeed) != "" {
		return listChanges(e, v, scope, size)
	}
	var after access.Position
	if token := e.given(hContinuation); token != "" {
		if after, err = parseContinuation(token, v.Container, scope); err != nil {
			return 0, err
		}
	}
	return http.StatusOK, e.page(v, scope, after, size)
}

// page writes one page of items. It looks one living item ahead, so that the last
// page has no continuation.
func (e *exchange) page(v catalog.View, scope access.Scope, after access.Position, size int) error {
	e.openFeed(containerRID(v.Container), "Documents")
	var last access.Position
	rows := 0
	for d, err := range e.api.store.Scan(e.Context(), v, access.Access{Of: scope, After: after}) {
		if err != nil {
			return err
		}
		if rows == 0 {
			if err := e.growReply(shown(d.Body)); err != nil {
				return err
			}
		} else if rows == size || len(e.reply) >= maxPage || e.growReply(shown(d.Body)) != nil {
			e.set(outContinuation, continuation(v.Container, scope, last))
			break
		}
		if rows > 0 {
			e.reply = append(e.reply, ',')
		}
		e.reply = append(appendItem(e.reply, v.Container, &d), '}')
		last = append(last[:0], d.Position...)
		rows++
	}
	e.charge(feedCharge(rows, len(e.reply)))
	e.closeFeed(rows)
	return nil
}

// feedScope is the part of a container that the headers of a feed name: a
// partition, all partitions under a prefix, a range of effective partition keys,
// or, as nil, everything.
func feedScope(e *exchange, st *catalog.State) (access.Scope, error) {
	if err := checkRangeID(e); err != nil {
		return nil, err
	}
	if partition, limited, err := feedPartition(e, st); err != nil {
		return nil, err
	} else if limited {
		return access.Partition(partition), nil
	}
	low, err := parseEPK(e.given(hStartEPK))
	if err != nil {
		return nil, err
	}
	high, err := parseEPK(e.given(hEndEPK))
	if err != nil {
		return nil, err
	}
	span := &access.Span{Low: low, High: high}
	if len(low) == 0 && len(high) == 0 || isMongo(st) && holdsMongo(st, span) {
		return nil, nil
	}
	return span, nil
}

// parseEPK parses an effective partition key. "" leaves its end of the range open.
func parseEPK(text string) ([]byte, error) {
	epk, err := hex.DecodeString(text)
	if err != nil || len(text) > maxEPK {
		return nil, fault.New(fault.Invalid,
			"The effective partition key '%s' is invalid. Send an even number of hexadecimal digits, "+
				"at most %d.", clip(text), maxEPK)
	}
	return epk, nil
}

// checkRangeID rejects partition key ranges that the container does not have: each container has exactly one, with
// the id 0. Clients may put the container's RID and a comma before the id.
func checkRangeID(e *exchange) error {
	text := strings.TrimSpace(e.given(hRangeID))
	id := text
	if owner, rest, ok := strings.Cut(text, ","); ok {
		if have := containerRID(e.container).String(); owner != have {
			return otherContainer(have, owner)
		}
		id = strings.TrimSpace(rest)
	}
	if id != "" && id != "0" {
		return fault.New(fault.Invalid, "x-ms-documentdb-partitionkeyrangeid header contains invalid value '%s'. A "+
			"container has one range, with the id 0.", clip(text))
	}
	return nil
}

// deletePartition deletes all items of the partition named in the header.
func deletePartition(e *exchange) (status int, err error) {
	v, partition, err := e.enterItem()
	if err != nil {
		return 0, err
	}
	count, err := e.api.store.DeletePartition(e.Context(), v.Container, v.Now, partition)
	if err != nil {
		return 0, err
	}
	e.charge(1 + float64(count))
	return http.StatusOK, nil
}
