package main

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mayflydb/mayfly/internal/remote"
	"github.com/mayflydb/mayfly/internal/terminal"
)

// A forecast says when items end, as the admin API answers it.
type forecast struct {
	Policy  string  `json:"policy"`
	Now     instant `json:"now"`
	Buckets []struct {
		From instant `json:"from"`
		amountOf
		Exact  bool  `json:"exact"`
		Margin int64 `json:"margin"`
	} `json:"buckets"`
	Beyond amountOf `json:"beyond"`
	NoEnd  amountOf `json:"noEnd"`
	Living amountOf `json:"living"`
	Exact  bool     `json:"exact"`

	Margins struct{ Beyond, NoEnd, Living int64 } `json:"margins"`
}

// An instant is a time to the second.
type instant struct {
	Unix int64 `json:"unix"`
}

func (i instant) time() time.Time { return time.Unix(i.Unix, 0).UTC() }

// steps are the widths of a forecast's bars, and how each is labelled.
var steps = map[string]string{"hour": "2006-01-02 15:04", "day": "2006-01-02", "month": "2006-01"}

func (c command) forecastTTL() *cobra.Command {
	by, count := "day", 14
	cmd := c.online(
		&cobra.Command{
			Use: "forecast [DB[/CONTAINER]]", Short: "Show what will expire, by hour, day or month",
			Long: "Show how many items will expire in each of the next hours, days or months, and how large they\n" +
				"are: of a container, of a database, or of everything. Times are in UTC.",
			Example: "  mayfly ttl forecast shop/carts --by hour --count 24\n" +
				"  mayfly ttl forecast --by month --json",
			Args: cobra.MaximumNArgs(1), ValidArgsFunction: c.completeContainers(),
		},
		func(ctx context.Context, s *session) error {
			if steps[by] == "" {
				return usage{fmt.Errorf("--by: %q is not hour, day or month", by)}
			}
			path, err := forecastPath(s.args)
			if err != nil {
				return err
			}
			query := url.Values{"by": {by}, "count": {strconv.Itoa(count)}}
			return askFor(ctx, s, path+queryText(query), func(f forecast) error { return s.showForecast(f, steps[by]) })
		},
	)
	cmd.Flags().StringVar(&by, "by", by, "hour, day or month")
	cmd.Flags().IntVar(&count, "count", count, "how many of them")
	_ = cmd.RegisterFlagCompletionFunc("by", cobra.FixedCompletions( // it has the flag
		[]string{"hour", "day", "month"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func forecastPath(args []string) (string, error) {
	switch {
	case len(args) == 0:
		return remote.Path("forecast"), nil
	case !strings.Contains(args[0], "/"):
		return remote.Path("databases", args[0], "forecast"), nil
	}
	p, err := parsePlace(args[0])
	return p.path("forecast"), err
}

func (s *session) showForecast(f forecast, label string) error {
	var bars []terminal.Bar
	for _, b := range f.Buckets {
		bars = append(bars, terminal.Bar{Label: b.From.time().Format(label), Value: float64(b.Documents),
			Notes: []string{estimate(b.Documents, b.Exact, b.Margin), terminal.Bytes(b.Bytes)}})
	}
	if err := s.screen.Bars(bars); err != nil {
		return err
	}
	amount := func(a amountOf, margin int64) string {
		return estimate(a.Documents, margin == 0, margin) + ", " + terminal.Bytes(a.Bytes)
	}
	lines := [][2]string{{"Later", amount(f.Beyond, f.Margins.Beyond)},
		{"Without an end", amount(f.NoEnd, f.Margins.NoEnd)}, {"All items", amount(f.Living, f.Margins.Living)},
		{"Policy", f.Policy}}
	if !f.Exact {
		lines = append(lines, [2]string{"Numbers", "estimates; ± is the margin of error of 95 in 100 samples"})
	}
	return s.facts(slices.DeleteFunc(lines, func(line [2]string) bool { return line[1] == amount(amountOf{}, 0) }))
}
