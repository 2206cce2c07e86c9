// Package xpath evaluates XPath 1.0, all of it but variables, the namespace axis, processing instructions, and the
// functions id and lang; with the functions ends-with and lower-case of its successor, predicates behind "." and "..",
// and names whose prefix matches as it is written. Expressions and documents may both be those of strangers: [Lex]
// refuses what no evaluation should see, and an evaluation takes a step of its [Budget] for each node that it looks at
// or keeps, and for every 64 bytes of text, so that neither its time nor its memory depends on anything else.
//
// It is held against libxml2 by tests of the packages that use it: random expressions on random pages, URDs and
// annotations give the same nodes, in the same order, and the same values. Where the standard and libxml2 differ, it
// follows the standard: the nodes that follow an attribute are those of its element and behind it, "//." begins with
// what it is asked of, "1e3" and "-" are no numbers, and a number is written with as many digits as tell it from all
// others.
package xpath
