// Package promotion keeps what people set about what sales earn, besides the rules of transaction types: promotions, categories of
// what is sold with the codes that tills and shops send, and the caps of a day. core/award computes by them.
package promotion
