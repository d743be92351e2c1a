# Makes the player the shell of an account (Shell Launcher) and opens the firewall for it, or takes that back. Run it in
# Windows PowerShell as an administrator.
param(
  [Parameter(Mandatory = $true)][string]$User,
  [switch]$Remove
)
$ErrorActionPreference = 'Stop'

$feature = 'Client-EmbeddedShellLauncher'
if ((Get-WindowsOptionalFeature -Online -FeatureName $feature).State -ne 'Enabled') {
  Enable-WindowsOptionalFeature -Online -FeatureName $feature -All -NoRestart | Out-Null
}

$sid = (New-Object System.Security.Principal.NTAccount($User)).Translate([System.Security.Principal.SecurityIdentifier]).Value
$launcher = [wmiclass]'\\.\root\standardcimv2\embedded:WESL_UserSetting'
$folder = (Get-CimInstance Win32_UserProfile | Where-Object SID -eq $sid).LocalPath
$player = Join-Path $folder 'AppData\Local\Programs\signage-player\Signage Player.exe'
if (-not $Remove -and -not (Test-Path $player)) {
  throw "There is no player at $player; run its installer in the account $User first."
}

# Rules that block come from the firewall's alert where it was dismissed, and win over one that allows.
Get-NetFirewallApplicationFilter | Where-Object Program -eq $player | Get-NetFirewallRule | Remove-NetFirewallRule

if ($Remove) {
  $launcher.RemoveCustomShell($sid) | Out-Null
  # Under the launcher the player has removed itself from what starts with the login.
  Write-Output "The account $User has its desktop back; start the player once there, and it starts with the login again."
  return
}

New-NetFirewallRule -DisplayName 'Signage Player' -Direction Inbound -Program $player -Action Allow | Out-Null
# Whatever the player's exit code: start it again (0). By the word after its path the player leaves that to the launcher.
$launcher.SetDefaultShell('explorer.exe', 0) | Out-Null
$launcher.SetCustomShell($sid, "`"$player`" --supervised", $null, $null, 0) | Out-Null
$launcher.SetEnabled($true) | Out-Null
Write-Output "From its next login on, the account $User is the player and nothing else."
