package host

const LookUpsPerAddress = lookUpsPerAddress
