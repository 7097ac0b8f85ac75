package main

import (
	"strings"

	"github.com/mayflydb/mayfly/internal/node"
)

// parseHosts parses a list of host names.
func parseHosts(c *config, value string) error {
	c.node.AllowHosts = nil
	if strings.TrimSpace(value) == "" {
		return nil
	}
	for text := range strings.SplitSeq(value, ",") {
		name := strings.TrimSuffix(strings.TrimSpace(text), ".")
		if err := node.CheckHost(name); err != nil {
			return err
		}
		c.node.AllowHosts = append(c.node.AllowHosts, name)
	}
	return nil
}
