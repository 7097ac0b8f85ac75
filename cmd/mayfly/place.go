package main

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mayflydb/mayfly/internal/remote"
	"github.com/mayflydb/mayfly/internal/transfer"
)

// A place is a container, as arguments name it: DB/CONTAINER. The first slash divides it, because a collection of
// MongoDB may have one in its name and a database may not.
type place struct{ db, container string }

func parsePlace(text string) (place, error) {
	db, container, ok := strings.Cut(text, "/")
	if !ok || db == "" || container == "" {
		return place{}, usage{fmt.Errorf("%q names no container: write DB/CONTAINER, such as shop/carts", text)}
	}
	return place{db, container}, nil
}

func (p place) String() string { return p.db + "/" + p.container }

// path is the path of the container in the admin API, with further segments.
func (p place) path(further ...string) string {
	return remote.Path(append([]string{"databases", p.db, "containers", p.container}, further...)...)
}

// transferred is the container as the source or the target of a transfer.
func (p place) transferred(s *session) *transfer.Remote {
	return &transfer.Remote{Send: s.Stream, Database: p.db, Container: p.container}
}

// container is the container that the first argument names.
func (s *session) container() (place, error) { return parsePlace(s.args[0]) }

// completeDatabases completes the name of a database.
func (c command) completeDatabases() completion {
	return c.completing(func(ctx context.Context, client *remote.Client, _ string) ([]string,
		cobra.ShellCompDirective) {
		names, err := databaseNames(ctx, client)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return names, cobra.ShellCompDirectiveDefault
	})
}

// completeContainers completes DB/CONTAINER: first the database, then the container.
func (c command) completeContainers() completion { return c.completing(containersLike) }

// completeContainersOrFile completes DB/CONTAINER, and then a file.
func (c command) completeContainersOrFile() completion {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 1 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return c.completeContainers()(cmd, args, typed)
	}
}

func containersLike(
	ctx context.Context, client *remote.Client, typed string,
) (found []string, directive cobra.ShellCompDirective) {
	db, _, inside := strings.Cut(typed, "/")
	if !inside {
		names, err := databaseNames(ctx, client)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		for _, name := range names {
			found = append(found, name+"/")
		}
		return found, cobra.ShellCompDirectiveNoSpace
	}
	for page, err := range containerPages(ctx, client, db) {
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		for _, one := range page {
			found = append(found, db+"/"+one.ID)
		}
	}
	return found, cobra.ShellCompDirectiveDefault
}

func databaseNames(ctx context.Context, client *remote.Client) (names []string, err error) {
	var list databaseList
	err = client.Get(ctx, remote.Path("databases"), &list)
	for _, db := range list.Databases {
		names = append(names, db.ID)
	}
	return names, err
}

// containerPages yields the containers of a database page by page.
func containerPages(ctx context.Context, client *remote.Client, db string) func(func([]containerState, error) bool) {
	return func(yield func([]containerState, error) bool) {
		for next := ""; ; {
			var page containerPage
			path := remote.Path("databases", db, "containers")
			if next != "" {
				path += "?" + url.Values{"continuation": {next}}.Encode()
			}
			err := client.Get(ctx, path, &page)
			if !yield(page.Containers, err) || err != nil || page.Continuation == "" {
				return
			}
			next = page.Continuation
		}
	}
}
