package load

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A fake keeps documents in memory and makes one mistake.
type fake struct {
	mistake string

	mu    sync.Mutex
	all   []Document
	ends  map[string]time.Time
	count int
}

func (f *fake) Name() string { return "fake" }

// mistaken is the document that the mistake happens to.
func (f *fake) mistaken(d Document) bool {
	writer := "-1"
	if strings.HasSuffix(f.mistake, "mortal change") || strings.HasSuffix(f.mistake, "after its end") {
		writer = "m0-fake"
	}
	return d.N == 5 && strings.HasSuffix(d.Writer, writer)
}

func (f *fake) Insert(_ context.Context, d Document) error {
	time.Sleep(time.Millisecond) // a request takes time
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mistake == "loses" && f.mistaken(d) {
		return nil
	}
	d.Version = strconv.Itoa(len(f.all))
	d.Written = time.Now()
	end := d.Written.Add(d.Life)
	if d.Life > 0 {
		d.End = end
	}
	f.all = append(f.all, d)
	f.ends[d.ID()] = end
	return nil
}

func (f *fake) Count(context.Context, string) (int, error) {
	time.Sleep(time.Millisecond)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count++
	switch {
	case f.count == 5 && f.mistake == "adds twice":
		f.count++
	case f.count == 5 && f.mistake == "loses an addition":
		f.count--
	case f.count == 5 && f.mistake == "fails to add":
		return 0, errors.New("unknown outcome")
	}
	return f.count, nil
}

func (f *fake) Stay(_ context.Context, writer string) (ids []string, _ error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range f.all {
		if d.Writer == writer && !(f.mistake == "forgets" && f.mistaken(d)) {
			ids = append(ids, d.ID())
		}
	}
	return ids, nil
}

func (f *fake) Mortal(context.Context) (now time.Time, shown []Shown, _ error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now = time.Now()
	for _, d := range f.all {
		if end := f.ends[d.ID()]; d.Life > 0 && (now.Before(end) || f.mistake == "shows the dead") {
			shown = append(shown, Shown{ID: d.ID(), End: end})
		}
	}
	return now, shown, nil
}

func (f *fake) Changes(_ context.Context, after string) (inserted []Document, next string, _ error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := len(f.all)
	if after != "" {
		at, _ = strconv.Atoi(after)
	}
	for _, d := range f.all[at:] {
		if !f.mistaken(d) {
			inserted = append(inserted, d)
			continue
		}
		switch f.mistake {
		case "skips a change":
		case "repeats a change":
			inserted = append(inserted, d, d)
		case "takes back a change", "takes back a mortal change", "inserts again after its end":
			inserted = append(inserted, d)
			d.Version += " again"
			if f.mistake == "inserts again after its end" {
				d.Written = d.End
			}
			inserted = append(inserted, d)
		default:
			inserted = append(inserted, d)
		}
	}
	return inserted, fmt.Sprint(len(f.all)), nil
}

// Each mistake is found, and nothing is found where there is none.
func TestMistakesAreFound(t *testing.T) {
	for mistake, want := range map[string]string{
		"":                            "",
		"loses":                       "before 5 of",
		"forgets":                     "0 times, it was acknowledged",
		"shows the dead":              "its end was",
		"skips a change":              "before 5 of",
		"repeats a change":            "again, after 5 of",
		"takes back a change":         "",
		"takes back a mortal change":  "",
		"inserts again after its end": "", // no mistake
		"adds twice":                  "counts 6 after 4",
		"loses an addition":           "counts 4 after 4",
		"fails to add":                "",
	} {
		t.Run(mistake, func(t *testing.T) {
			t.Parallel()
			f := &fake{mistake: mistake, ends: map[string]time.Time{}}
			l, err := Start([]API{f}, []API{f})
			if err != nil {
				t.Fatal(err)
			}
			for end := time.Now().Add(Deadline); time.Now().Before(end); time.Sleep(time.Millisecond) {
				if l.Wrong() > 0 || l.Gone() > 0 && l.Acknowledged() > 100 {
					break
				}
			}
			ctx, cancel := context.WithTimeout(context.Background(), Deadline)
			defer cancel()
			seen := l.Stop(ctx)
			found := strings.Join(seen.Wrong, "\n")
			if want == "" && found != "" || want != "" && !strings.Contains(found, want) {
				t.Errorf("found %q, want %q", found, want)
			}
			if (seen.Lost > 0) != strings.HasPrefix(mistake, "takes back") {
				t.Errorf("%d changes were lost", seen.Lost)
			}
		})
	}
}
