package admin

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// A pagedOffers is a feed of offers with one on each page.
type pagedOffers int

func (last pagedOffers) RoundTrip(r *http.Request) (*http.Response, error) {
	page := 0
	_, _ = fmt.Sscan(r.Header.Get("X-Ms-Continuation"), &page)
	header := http.Header{}
	if page < int(last) {
		header.Set("X-Ms-Continuation", fmt.Sprint(page+1))
	}
	body := fmt.Sprintf(`{"Offers":[{"id":"o%d","offerResourceId":"r%d"}]}`, page, page)
	return &http.Response{StatusCode: 200, Header: header, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// An account may have more offers than a page of their feed.
func TestOfferOnALaterPage(t *testing.T) {
	a := &admin{Options: Options{NoSQL: pagedOffers(3)}}
	for target, want := range map[string]string{"r0": "o0", "r3": "o3", "r4": ""} {
		o, err := a.offerFor(t.Context(), target)
		if err != nil || (o == nil) != (want == "") || o != nil && o.ID != want {
			t.Errorf("%s: %+v, %v", target, o, err)
		}
	}
}
