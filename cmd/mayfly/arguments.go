package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// explainArguments makes a command and those below it say how to write them when their arguments are wrong in number,
// and which subcommand a misspelt one probably is.
func explainArguments(cmd *cobra.Command) {
	check := cmd.Args
	if check == nil {
		check = cobra.NoArgs
	}
	cmd.SuggestionsMinimumDistance = 2
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		switch {
		case err == nil:
			return nil
		case cmd.HasSubCommands() && len(args) > 0:
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				return fmt.Errorf("%w, did you mean %s?", err, strings.Join(near, " or "))
			}
			return err
		}
		if !strings.Contains(cmd.Use, " ") {
			return fmt.Errorf("%s takes no arguments, and %q is one", cmd.CommandPath(), args[0])
		}
		many := fmt.Sprint(len(args), " arguments are")
		switch len(args) {
		case 0:
			many = "no argument is"
		case 1:
			many = "1 argument is"
		}
		return fmt.Errorf("%s given: write %s", many, strings.TrimSuffix(cmd.UseLine(), " [flags]"))
	}
	for _, sub := range cmd.Commands() {
		explainArguments(sub)
	}
}
