package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mayflydb/mayfly/internal/remote"
	"github.com/mayflydb/mayfly/internal/terminal"
)

// completeTime is how long completion waits for the server: a person has pressed a key.
const completeTime = 2 * time.Second

// completion is the type of cobra's functions that complete arguments.
type completion = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective)

// A finder asks the server for names.
type finder = func(ctx context.Context, client *remote.Client, typed string) ([]string, cobra.ShellCompDirective)

// completing asks the server for the completions of the first argument. Without an answer there are none.
func (c command) completing(find finder) completion {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return c.asking(find)(cmd, args, typed)
	}
}

// asking asks the server for the completions of any argument, or of a flag.
func (c command) asking(find finder) completion {
	return func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		client, err := c.connect(cmd)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(context.Background(), completeTime)
		defer cancel()
		found, directive := find(ctx, client, typed)
		var names []string
		for _, name := range found {
			if strings.HasPrefix(name, typed) && terminal.Plain(name) == name {
				names = append(names, name)
			}
		}
		return names, directive | cobra.ShellCompDirectiveNoFileComp
	}
}

func (c command) completeOperations(
	cmd *cobra.Command, args []string, typed string,
) ([]string, cobra.ShellCompDirective) {
	return c.completing(func(ctx context.Context, client *remote.Client, _ string) ([]string,
		cobra.ShellCompDirective) {
		var list operationList
		if client.Get(ctx, remote.Path("operations"), &list) != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var ids []string
		for _, o := range list.Operations {
			ids = append(ids, o.ID)
		}
		return ids, cobra.ShellCompDirectiveDefault
	})(cmd, args, typed)
}
