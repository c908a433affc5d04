// Package level keeps the levels of a business: how customers rise to them, what sales count, and what happens when a level
// ends. core/award computes with them, and core/transaction raises customers in the statement that records a sale.
package level
