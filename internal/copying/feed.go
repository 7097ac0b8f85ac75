package copying

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// A rangeState is how far a range of the change feed is.
type rangeState struct {
	Min   string `json:"min"`
	Max   string `json:"max"`
	Token string `json:"token,omitempty"` // empty at the beginning
	// Given are the marks of items after the token that the feed has given already.
	Given []string `json:"given,omitempty"`
}

// A feed reads the items of a container in the order of their stamps: the change feed of each range has that order, and
// the feed merges them. So it holds one page of each range.
type feed struct {
	container *azcosmos.ContainerClient
	ranges    []*feedRange
	pageItems int32
	pageEnded bool // with the last item
}

type feedRange struct {
	state rangeState // before the page
	next  string     // after it
	page  []item
	taken []string        // marks of the items of the page that the feed has given
	given map[string]bool // those of state that are still to come
	ended bool
}

func newFeedRange(state rangeState) *feedRange {
	r := &feedRange{state: state, given: map[string]bool{}}
	for _, mark := range state.Given {
		r.given[mark] = true
	}
	return r
}

// openFeed reads pages from the beginning, or from where a state says.
func openFeed(ctx context.Context, c *azcosmos.ContainerClient, pageItems int, from []rangeState) (*feed, error) {
	f := &feed{container: c, pageItems: int32(pageItems)}
	if len(from) == 0 {
		ranges, err := c.ReadFeedRanges(ctx, nil)
		if err != nil {
			return nil, err
		}
		for _, r := range ranges {
			from = append(from, rangeState{Min: r.MinInclusive, Max: r.MaxExclusive})
		}
	}
	for _, state := range from {
		f.ranges = append(f.ranges, newFeedRange(state))
	}
	return f, nil
}

// fill reads pages until the range has an item, or has ended. A range that the service has split becomes several.
func (f *feed) fill(ctx context.Context, r *feedRange) error {
	for len(r.page) == 0 && !r.ended {
		if r.next != "" {
			r.state.Token, r.taken = r.next, nil
		}
		o := &azcosmos.ChangeFeedOptions{
			MaxItemCount: f.pageItems,
			FeedRange:    &azcosmos.FeedRange{MinInclusive: r.state.Min, MaxExclusive: r.state.Max},
		}
		if r.state.Token != "" {
			o.Continuation = &r.state.Token
		}
		page, err := f.container.ReadChangeFeed(ctx, o)
		if err != nil {
			return err
		}
		list := page.ETag == "" && len(page.Items) > 0
		if err := f.split(r, page); err != nil {
			return err
		}
		if list && (page.RawResponse.Header.Get("x-ms-continuation") != "" || len(f.ranges) > 1) {
			return errNoFeed
		}
		for _, raw := range page.Items {
			i, err := parseItem(raw)
			if err != nil {
				return err
			}
			if r.given[i.mark] {
				delete(r.given, i.mark)
				r.taken = append(r.taken, i.mark)
				continue
			}
			r.page = append(r.page, i)
		}
		if list {
			slices.SortStableFunc(r.page, func(a, b item) int { return cmp.Compare(a.stamp, b.stamp) })
			r.next = ""
		}
		r.ended = len(page.Items) == 0 || list
	}
	return nil
}

// A server that has no change feed ignores the header that asks for it, and lists all items, with no ETag to go on
// from; cosmium does. If the answer has all of them, that is enough. Otherwise each request would get the same.
var errNoFeed = errors.New("the source has no change feed: it answers with a list of items, and in several pages, so " +
	"there is no position to go on from")

// A continuation is how the client writes where a feed goes on: one entry for each range that the service has now, in
// the order in which it reads them, so that the range of the page that it has just given is the last.
type continuation struct {
	Version    int                 `json:"version,omitempty"`
	ResourceID string              `json:"resourceId"`
	Entries    []continuationEntry `json:"continuation"`
}

type continuationEntry struct {
	Min   string  `json:"minInclusive"`
	Max   string  `json:"maxExclusive"`
	Token *string `json:"continuationToken,omitempty"`
}

// parseContinuation reads the continuation of a client.
func parseContinuation(text string) (c continuation, err error) {
	if text == "" {
		return c, errors.New("the change feed of the source has no continuation")
	}
	if json.Unmarshal([]byte(text), &c) != nil || len(c.Entries) == 0 {
		return c, errors.New("the continuation of the change feed cannot be read")
	}
	return c, nil
}

// only is the continuation of one entry.
func (c continuation) only(e continuationEntry) string {
	c.Entries = []continuationEntry{e}
	text, _ := json.Marshal(c) // strings and a number always have a form
	return string(text)
}

// split moves r behind its page. If the service has split the range, then r keeps the part that the page is from, and
// the other parts become ranges of their own: within each of them stamps have their order, and not across them.
func (f *feed) split(r *feedRange, page azcosmos.ChangeFeedResponse) error {
	c, err := parseContinuation(page.ContinuationToken)
	if err != nil {
		return err
	}
	last := len(c.Entries) - 1
	own := c.Entries[last]
	r.next = c.only(own)
	if last == 0 {
		return nil
	}
	for _, e := range c.Entries[:last] {
		other := newFeedRange(rangeState{Min: e.Min, Max: e.Max, Token: c.only(e)})
		other.given = maps.Clone(r.given)
		other.ended = len(page.Items) == 0 // the client has asked for every part
		f.ranges = append(f.ranges, other)
	}
	r.state.Min, r.state.Max = own.Min, own.Max
	if r.state.Token == "" {
		return nil
	}
	before, err := parseContinuation(r.state.Token)
	if err != nil {
		return err
	}
	own.Token = before.Entries[0].Token
	r.state.Token = before.only(own)
	return nil
}

// next gives the item with the smallest stamp; ok is false at the end.
func (f *feed) next(ctx context.Context) (i item, ok bool, err error) {
	var first *feedRange
	for n := 0; n < len(f.ranges); n++ { // fill can append more
		r := f.ranges[n]
		if err := f.fill(ctx, r); err != nil {
			return i, false, err
		}
		if len(r.page) > 0 && (first == nil || r.page[0].stamp < first.page[0].stamp) {
			first = r
		}
	}
	if first == nil {
		return i, false, nil
	}
	i, first.page = first.page[0], first.page[1:]
	first.taken = append(first.taken, i.mark)
	f.pageEnded = len(first.page) == 0
	return i, true, nil
}

// batch gives the next items, none at the end. A batch ends with a page, so that it has no item twice: writes of a
// batch may overtake each other.
func (f *feed) batch(ctx context.Context, most int) (items []item, err error) {
	for len(items) < most {
		i, ok, err := f.next(ctx)
		if err != nil || !ok {
			return items, err
		}
		items = append(items, i)
		if f.pageEnded {
			return items, nil
		}
	}
	return items, nil
}

// at is from where to go on when everything that the feed gave is written. A page that is not at its end comes again,
// without the items that the feed gave.
func (f *feed) at() (states []rangeState) {
	for _, r := range f.ranges {
		state := r.state
		state.Given = slices.Sorted(maps.Keys(r.given))
		if len(r.page) == 0 && r.next != "" {
			state.Token = r.next
		} else {
			state.Given = append(state.Given, r.taken...)
		}
		states = append(states, state)
	}
	return states
}
