package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/mayflydb/mayfly/internal/terminal"
)

// ttl is the command about lifetimes: what is set, what a change would do, what will expire, and why.
func (c command) ttl() *cobra.Command {
	return family(
		&cobra.Command{
			Use: "ttl", Short: "Show and change lifetimes, and see ahead what will expire",
			Example: "  mayfly ttl show shop/carts\n" +
				"  mayfly ttl preview shop/carts 30d\n" +
				"  mayfly ttl set shop/carts 90d\n" +
				"  mayfly ttl forecast shop --by day\n" +
				"  mayfly ttl explain shop/carts 1",
		},
		c.showTTL(), c.setTTL(), c.offTTL(), c.previewTTL(), c.forecastTTL(), c.explainTTL(),
	)
}

// onContainer makes a command about the container of its first argument.
func (c command) onContainer(
	cmd *cobra.Command, run func(ctx context.Context, s *session, p place) error,
) *cobra.Command {
	cmd.ValidArgsFunction = c.completeContainers()
	return c.online(cmd, func(ctx context.Context, s *session) error {
		p, err := s.container()
		if err != nil {
			return err
		}
		return run(ctx, s, p)
	})
}

// A lifetime is the policy of a container, as the admin API answers it.
type lifetime struct {
	DefaultTTL *int64 `json:"defaultTtl"`
	Property   string `json:"ttlPropertyPath"`
	Dates      []struct {
		Index   string `json:"index"`
		Field   string `json:"field"`
		Seconds int64  `json:"expireAfterSeconds"`
	} `json:"dates"`
	Effect string `json:"effect"`
	Hint   string `json:"hint"`
}

// A policy is the body of a request about the lifetime of a container.
type policy struct {
	DefaultTTL *int64 `json:"defaultTtl"`
	Property   string `json:"ttlPropertyPath,omitempty"`
}

func (c command) showTTL() *cobra.Command {
	return c.onContainer(
		&cobra.Command{Use: "show DB/CONTAINER", Short: "Show the lifetime of a container's items",
			Args: cobra.ExactArgs(1)},
		func(ctx context.Context, s *session, p place) error {
			return askFor(ctx, s, p.path("lifetime"), s.showLifetime)
		},
	)
}

func (s *session) showLifetime(l lifetime) error {
	lines := [][2]string{{"TTL", ttlText(l.DefaultTTL)}, {"Property", l.Property}}
	for _, d := range l.Dates {
		rule := fmt.Sprintf("%s after %s (index %s)", ttlText(&d.Seconds), d.Field, d.Index)
		lines = append(lines, [2]string{"Dates", rule})
	}
	lines = append(lines, [2]string{"Effect", l.Effect}, [2]string{"Hint", l.Hint})
	return s.facts(lines)
}

// A policyChange holds the flags of a change of lifetime.
type policyChange struct {
	property string
	given    bool // the property
	yes      bool
}

func (c *policyChange) addProperty(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.property, "property", "",
		"path of the property that holds deadlines, empty for none (default: as it is), see docs/ttl.md")
	cmd.PreRun = func(cmd *cobra.Command, _ []string) { c.given = cmd.Flags().Changed("property") }
}

// policy is what the policy of a container becomes with a TTL.
func (c *policyChange) policy(ctx context.Context, s *session, p place, ttl *int64) (policy, error) {
	var now lifetime
	if err := s.Get(ctx, p.path("lifetime"), &now); err != nil {
		return policy{}, err
	}
	next := policy{ttl, now.Property}
	if c.given {
		next.Property = c.property
	}
	return next, nil
}

func (c command) setTTL() *cobra.Command {
	var change policyChange
	cmd := c.onContainer(
		&cobra.Command{
			Use:   "set DB/CONTAINER TTL",
			Short: "Set the lifetime of a container's items, after a look at what that ends",
			Long: "Set the lifetime of a container's items: a duration such as 90d, 12h30m or 2w, counted from the\n" +
				"last write of each item, or never, which leaves it to the ttl of each item. The command shows\n" +
				"the preview of the change, and asks when more than half of the items would be gone at once.",
			Example: "  mayfly ttl set shop/carts 90d\n" +
				"  mayfly ttl set shop/carts 1h --yes\n" +
				"  mayfly ttl set shop/carts never",
			Args: cobra.ExactArgs(2),
		},
		func(ctx context.Context, s *session, p place) error {
			ttl, err := parseTTL(s.args[1])
			if err != nil {
				return usage{err}
			}
			return change.apply(ctx, s, p, &ttl)
		},
	)
	change.addProperty(cmd)
	addYes(cmd, &change.yes)
	return cmd
}

func (c command) offTTL() *cobra.Command {
	var change policyChange
	cmd := c.onContainer(
		&cobra.Command{
			Use: "off DB/CONTAINER", Short: "Turn expiry off: items do not end, whatever their ttl says",
			Args: cobra.ExactArgs(1),
		},
		func(ctx context.Context, s *session, p place) error { return change.apply(ctx, s, p, nil) },
	)
	addYes(cmd, &change.yes)
	return cmd
}

// apply shows the preview of a change, asks if that is called for, and makes the change.
func (c *policyChange) apply(ctx context.Context, s *session, p place, ttl *int64) error {
	next, err := c.policy(ctx, s, p, ttl)
	if err != nil {
		return err
	}
	if ttl == nil {
		next.Property = "" // it needs a TTL
	} else if err := c.look(ctx, s, p, next); err != nil {
		return err
	}
	return ask(ctx, s, http.MethodPut, p.path("lifetime"), next, s.showLifetime)
}

// look shows what a policy would end, and asks whether to go ahead if that is more than half of the items.
func (c *policyChange) look(ctx context.Context, s *session, p place, next policy) error {
	var seen preview
	if err := s.Call(ctx, http.MethodPost, p.path("lifetime", "preview"), next, &seen); err != nil {
		return err
	}
	if !s.json {
		if err := s.showPreview(seen); err != nil {
			return err
		}
	}
	gone := seen.gone()
	if gone*2 <= seen.Living.Documents {
		return nil
	}
	return s.confirm(c.yes, "%s of %s items would be gone at once. Set the TTL of %s to %s?",
		terminal.Count(gone), terminal.Count(seen.Living.Documents), terminal.Plain(p.String()),
		ttlText(next.DefaultTTL))
}

func (c command) previewTTL() *cobra.Command {
	var change policyChange
	cmd := c.onContainer(
		&cobra.Command{
			Use: "preview DB/CONTAINER TTL", Short: "Count what a lifetime would end, without setting it",
			Long: "Count how many items a lifetime would end at once, and within the next hour, day, week and month\n" +
				"of 30 days, with samples. TTL is a duration such as 90d, never or off. Nothing changes.",
			Example: "  mayfly ttl preview shop/carts 30d\n" +
				"  mayfly ttl preview shop/carts 30d --json",
			Args: cobra.ExactArgs(2),
		},
		func(ctx context.Context, s *session, p place) error {
			var ttl *int64
			if s.args[1] != "off" {
				seconds, err := parseTTL(s.args[1])
				if err != nil {
					return usage{err}
				}
				ttl = &seconds
			}
			next, err := change.policy(ctx, s, p, ttl)
			if err != nil {
				return err
			}
			if ttl == nil {
				next.Property = ""
			}
			return ask(ctx, s, http.MethodPost, p.path("lifetime", "preview"), next, s.showPreview)
		},
	)
	change.addProperty(cmd)
	return cmd
}

// An amountOf says how many documents, and how large they are together.
type amountOf struct {
	Documents int64 `json:"documents"`
	Bytes     int64 `json:"bytes"`
}

// A preview is what a policy would do, as the admin API answers it.
type preview struct {
	Before  string   `json:"before"`
	After   string   `json:"after"`
	Living  amountOf `json:"living"`
	Margin  int64    `json:"livingMargin"` // of Living
	Windows []struct {
		Name string `json:"name"`
		amountOf
		Exact   bool     `json:"exact"`
		Margin  int64    `json:"margin"`
		Samples []sample `json:"samples"`
	} `json:"windows"`
}

// A sample names an item.
type sample struct {
	ID      string          `json:"id"`
	MongoID json.RawMessage `json:"_id"`
}

func (s sample) String() string {
	if s.MongoID != nil {
		return cell(s.MongoID)
	}
	return s.ID
}

// gone is how many items end at once.
func (p preview) gone() int64 {
	for _, w := range p.Windows {
		if w.Name == "now" {
			return w.Documents
		}
	}
	return 0
}
