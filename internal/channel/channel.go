// Package channel determines what a person's channel of delivery, such as a mailbox or a webhook, is told, when, and
// in which words: its [Settings], and the [Message] that is sent on it, or the [Feed] that is fetched.
//
// It guarantees: settings hold back when something is sent, and lose nothing that passes their filter; what cannot be
// read in them is an error with the name of the field, and never ignored; a message fits the limits of the service it
// is for, counts what it has no room for, and refers to where the rest is; and the text of a page addresses nobody
// there, hides no link behind other words, and loads nothing. The package knows no store, no pipeline and no network.
package channel
