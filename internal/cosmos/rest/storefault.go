package rest

import (
	"errors"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// serviceTexts are the service's texts for faults of the packages below, which know no API. itemFault comes before them
// where a request names one item and there is more to say.
var serviceTexts = []struct{ of, says error }{
	{catalog.ErrNotFound, errMissing},
	{catalog.ErrNoOwner,
		fault.New(fault.OwnerNotFound, "Resource Not Found. Learn more: https://aka.ms/cosmosdb-tsg-not-found")},
	{catalog.ErrExists, fault.New(fault.Exists, "Resource with specified id or name already exists.")},
	{catalog.ErrStale, errOtherETag},
	{store.ErrNotFound, fault.New(fault.NotFound, "Entity with the specified id does not exist in the system.")},
	{store.ErrExists, fault.New(fault.Exists, "Entity with the specified id already exists in the system.")},
	{store.ErrPrecondition, errOtherETag},
	{store.ErrPartition,
		fault.New(fault.PartitionMismatch,
			"PartitionKey extracted from document doesn't match the one specified in the header. "+
				"Give the value that the document holds under the container's partition key path.")},
	{store.ErrPosition, fault.New(fault.Invalid, "Invalid Continuation Token")},
}

var (
	errOtherETag   = fault.New(fault.Precondition, "One of the specified pre-condition is not met")
	errIDNotStored = fault.New(fault.Invalid,
		"The input content is invalid because the required properties - 'id; ' - are missing. "+
			"An id is a string of 1 to %d bytes.", maxID)
)

// inServiceTexts gives a fault of the packages below the service's text, with the fault as its cause.
func inServiceTexts(err error) error {
	if wrong, ok := errors.AsType[*expiry.BadTTL](err); ok {
		return ttlFault(wrong)
	}
	if wrong, ok := errors.AsType[*store.NoID](err); ok && wrong.Member == "id" {
		return errIDNotStored
	}
	for _, x := range serviceTexts {
		if errors.Is(err, x.of) {
			return fault.Wrap(fault.KindOf(x.says), err, "%s", fault.Message(x.says))
		}
	}
	return err
}

// ttlFault says what is wrong with a ttl or defaultTtl (I-01, I-02), and what to send instead.
func ttlFault(wrong *expiry.BadTTL) error {
	name, remedy := "ttl", "Leave ttl out to take the container's default."
	if wrong.Default {
		name, remedy = "defaultTtl", "Leave defaultTtl out to switch expiry off."
	}
	if wrong.TooLong {
		remedy = "It counts seconds, not milliseconds."
	}
	return fault.New(fault.Invalid, "The input %s '%s' is invalid. Ensure to provide a nonzero positive integer "+
		"less than or equal to '%d', or '-1' which means never expire. %s", name, wrong.Value, expiry.MaxTTL, remedy)
}
