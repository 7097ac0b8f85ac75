package audit

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestContextCarriesTheSource(t *testing.T) {
	if got := Of(context.Background()); got != (Who{API: Own}) {
		t.Errorf("without a source: %+v", got)
	}
	w := Who{API: NoSQL, Principal: "primary", Address: "127.0.0.1:4711"}
	if got := Of(With(context.Background(), w)); got != w {
		t.Errorf("got %+v, want %+v", got, w)
	}
}

func TestEncode(t *testing.T) {
	e := Event{
		Number: 3, Time: time.Date(2026, 3, 1, 12, 0, 0, 5, time.UTC), Who: Who{API: MongoDB, Principal: "ann@admin"},
		Action: "replace", Kind: "container", Target: "shop/orders",
		Changes: []Change{{Name: "defaultTtl", Before: "off", After: 60.0}},
	}
	got, err := Decode(e.Encode())
	if err != nil || !reflect.DeepEqual(got, e) {
		t.Errorf("got %+v, %v; want %+v", got, err, e)
	}
	const want = `{"number":3,"time":"2026-03-01T12:00:00.000000005Z","api":"mongodb","principal":"ann@admin",` +
		`"action":"replace","kind":"container","target":"shop/orders",` +
		`"changes":[{"name":"defaultTtl","before":"off","after":60}]}`
	if text := string(e.Encode()); text != want {
		t.Errorf("got %s\nwant %s", text, want)
	}
}

func TestEventsAreBounded(t *testing.T) {
	long := strings.Repeat("\x00", 1<<20) // six bytes each in JSON
	e := Event{Who: Who{Principal: long, Address: long}, Target: long}
	for range 1000 {
		e.Changes = append(e.Changes, Change{Name: "a", After: "value"})
	}
	if size := len(e.Encode()); size > 2*maxEvent {
		t.Errorf("%d bytes", size)
	}
}
