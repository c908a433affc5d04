package till

// Messages that tests expect.
var (
	NoScan        = errNoScan.Error()
	NoCode        = errNoCode.Error()
	NoVoucher     = errNoVoucher.Error()
	NoCard        = errNoCard.Error()
	NoSearch      = errNoSearch.Error()
	NoLastReceipt = errNoLastReceipt.Error()
)
