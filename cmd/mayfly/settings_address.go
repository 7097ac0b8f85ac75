package main

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// address parses an address to listen on, host:port; empty means none.
func address(field func(*config) *string) func(*config, string) error {
	return func(c *config, value string) error {
		if value != "" && !hostPort(value) {
			return fmt.Errorf("%q is not host:port", value)
		}
		*field(c) = value
		return nil
	}
}

// adminAddress also parses the URL of the admin API, as the start block shows it. The scheme https is for commands that
// ask a server.
func adminAddress(c *config, value string) error {
	rest, secure := strings.CutPrefix(value, "https://")
	if c.adminTLS = secure; secure {
		value = strings.TrimSuffix(rest, "/")
	} else if rest, ok := strings.CutPrefix(value, "http://"); ok {
		value = strings.TrimSuffix(rest, "/")
	}
	return address(func(c *config) *string { return &c.node.Admin })(c, value)
}

// hostPort reports whether value has the form host:port. Whether the host exists is found out when it is used.
func hostPort(value string) bool {
	host, port, err := net.SplitHostPort(value)
	if err != nil || strings.ContainsAny(host, "/ \t") {
		return false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && strconv.FormatUint(n, 10) == port
}

// callable is the address at which this machine reaches an API that listens on address.
func callable(address string) string {
	host, port, _ := net.SplitHostPort(address)
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// everywhere describes an address, which may mean every address of this machine.
func everywhere(address string) string {
	host, port, _ := net.SplitHostPort(address)
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		return "port " + port + " of every address of this machine"
	}
	return address
}

// parseAdvertise parses the URL of an account, to which clients append paths.
func parseAdvertise(c *config, value string) error {
	c.node.Advertise = value
	if value == "" {
		return nil
	}
	u, err := url.Parse(value)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return fmt.Errorf("not an http or https URL")
	case u.User != nil:
		return fmt.Errorf("an endpoint cannot have a user")
	case u.RawQuery != "" || u.ForceQuery || strings.Contains(value, "#"):
		return fmt.Errorf("an endpoint cannot have a query or fragment")
	}
	return nil
}

// parseMongoAdvertise parses an address that clients can connect to.
func parseMongoAdvertise(c *config, value string) error {
	host, port, _ := net.SplitHostPort(value)
	if ip := net.ParseIP(host); value != "" && (!hostPort(value) || host == "" || port == "0" || ip.IsUnspecified()) {
		return fmt.Errorf("%q is not an address that clients can connect to, such as db.example:27017", value)
	}
	c.node.Mongo.Advertise = value
	return nil
}
