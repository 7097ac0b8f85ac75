package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/mayflydb/mayfly/internal/remote"
)

// key is the command that shows and replaces the account keys of a running mayfly.
func (c command) key() *cobra.Command {
	return family(
		&cobra.Command{
			Use:   "key",
			Short: "Show or replace the account keys of a running mayfly",
			Long: "Show or replace the account keys of a running mayfly: primary and secondary, which allow\n" +
				"everything, and primaryReadonly and secondaryReadonly, which allow reading.",
			Example: "  mayfly key list\n" +
				"  mayfly key rotate secondary",
		},
		c.listKeys(), c.showKey(), c.rotateKey(),
	)
}

// An accountKey is a key as the admin API shows it.
type accountKey struct {
	Name     string    `json:"name"`
	ReadOnly bool      `json:"readOnly"`
	Origin   string    `json:"origin"`
	Since    time.Time `json:"since,omitzero"`
	Key      string    `json:"key,omitempty"`
}

type accountKeys struct {
	Keys []accountKey `json:"keys"`
}

func (c command) listKeys() *cobra.Command {
	return c.online(
		&cobra.Command{
			Use: "list", Short: "List the account keys, without the keys themselves", Args: cobra.NoArgs,
		},
		func(ctx context.Context, s *session) error {
			return askFor(ctx, s, remote.Path("keys"), func(list accountKeys) error {
				var rows [][]string
				for _, k := range list.Keys {
					allows, since := "everything", ""
					if k.ReadOnly {
						allows = "reading"
					}
					if !k.Since.IsZero() {
						since = k.Since.Format(time.RFC3339)
					}
					rows = append(rows, []string{k.Name, allows, k.Origin, since})
				}
				return s.table("no keys", []string{"KEY", "ALLOWS", "ORIGIN", "SINCE"}, rows)
			})
		},
	)
}

func (c command) showKey() *cobra.Command {
	return c.online(
		&cobra.Command{
			Use: "show NAME", Short: "Print an account key", Args: cobra.ExactArgs(1),
			Example: "  mayfly key show secondary", ValidArgsFunction: c.completeKeys(),
		},
		func(ctx context.Context, s *session) error {
			var list accountKeys
			if err := s.Get(ctx, remote.Path("keys")+"?show=true", &list); err != nil {
				return err
			}
			i := slices.IndexFunc(list.Keys, func(k accountKey) bool { return k.Name == s.args[0] })
			if i < 0 {
				return coded{fmt.Errorf("there is no key %q: see mayfly key list", s.args[0]), exitNotFound}
			}
			if s.json {
				return printJSON(c.out, list.Keys[i])
			}
			return s.say("%s", list.Keys[i].Key)
		},
	)
}

func (c command) rotateKey() *cobra.Command {
	return c.online(
		&cobra.Command{
			Use: "rotate NAME", Short: "Replace an account key, and print the new one", Args: cobra.ExactArgs(1),
			Long: "Replace an account key, and print the new one. The old key is worth nothing from then on: move\n" +
				"clients to the other key first.",
			Example: "  mayfly key rotate primary", ValidArgsFunction: c.completeKeys(),
		},
		func(ctx context.Context, s *session) error {
			path := remote.Path("keys", s.args[0], "rotate")
			return ask(ctx, s, http.MethodPost, path, nil, func(made accountKey) error {
				return s.say("%s", made.Key)
			})
		},
	)
}

// completeKeys completes the name of an account key.
func (c command) completeKeys() completion {
	return c.completing(func(ctx context.Context, client *remote.Client, _ string) ([]string,
		cobra.ShellCompDirective) {
		var list accountKeys
		if client.Get(ctx, remote.Path("keys"), &list) != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var names []string
		for _, k := range list.Keys {
			names = append(names, k.Name)
		}
		return names, cobra.ShellCompDirectiveDefault
	})
}
