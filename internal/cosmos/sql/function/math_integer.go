package function

import "github.com/mayflydb/mayfly/internal/doc"

// The mathematical functions on whole numbers of 64 bits. Any other argument
// makes the result undefined, and so does a division by zero; what is too large
// wraps around, as the reference says ("similar to the implementation in C++").
var integerFunctions = []Function{
	{Name: "INTADD", Family: familyMath, Min: 2, Max: 2, Run: ofIntegers(func(a, b int64) int64 { return a + b })},
	{Name: "INTBITAND", Family: familyMath, Min: 2, Max: 2, Run: ofIntegers(func(a, b int64) int64 { return a & b })},
	{Name: "INTBITLEFTSHIFT", Family: familyMath, Min: 2, Max: 2, Run: ofIntegers(func(a, b int64) int64 { return a << bitShift(b) })},
	{Name: "INTBITNOT", Family: familyMath, Min: 1, Max: 1, Run: bitNot},
	{Name: "INTBITOR", Family: familyMath, Min: 2, Max: 2, Run: ofIntegers(func(a, b int64) int64 { return a | b })},
	{Name: "INTBITRIGHTSHIFT", Family: familyMath, Min: 2, Max: 2, Run: ofIntegers(func(a, b int64) int64 { return a >> bitShift(b) })},
	{Name: "INTBITXOR", Family: familyMath, Min: 2, Max: 2, Run: ofIntegers(func(a, b int64) int64 { return a ^ b })},
	{Name: "INTDIV", Family: familyMath, Min: 2, Max: 2, Run: byDivisor(func(a, b int64) int64 { return a / b })},
	{Name: "INTMOD", Family: familyMath, Min: 2, Max: 2, Run: byDivisor(func(a, b int64) int64 { return a % b })},
	{Name: "INTMUL", Family: familyMath, Min: 2, Max: 2, Run: ofIntegers(func(a, b int64) int64 { return a * b })},
	{Name: "INTSUB", Family: familyMath, Min: 2, Max: 2, Run: ofIntegers(func(a, b int64) int64 { return a - b })},
}

func ofIntegers(f func(a, b int64) int64) func(*Call, []doc.Value) doc.Value {
	return func(c *Call, args []doc.Value) doc.Value {
		a, okA := doc.AsInt(args[0])
		b, okB := doc.AsInt(args[1])
		if !okA || !okB {
			return undefined
		}
		return roomOf(c).int(f(a, b))
	}
}

func byDivisor(f func(a, b int64) int64) func(*Call, []doc.Value) doc.Value {
	run := ofIntegers(f)
	return func(c *Call, args []doc.Value) doc.Value {
		if b, ok := doc.AsInt(args[1]); ok && b == 0 {
			return undefined
		}
		return run(c, args)
	}
}

func bitNot(c *Call, args []doc.Value) doc.Value {
	a, ok := doc.AsInt(args[0])
	if !ok {
		return undefined
	}
	return roomOf(c).int(^a)
}

// bitShift is a count of bits as processors read it: modulo 64.
func bitShift(count int64) uint { return uint(count) & 63 }
