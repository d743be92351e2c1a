# Makes the player the shell of an account (Shell Launcher), locks the keys that lead elsewhere, and opens the firewall for it,
# or takes that back. Run it in Windows PowerShell as an administrator.
param(
  [Parameter(Mandatory = $true)][string]$User,
  [switch]$Remove
)
$ErrorActionPreference = 'Stop'

foreach ($feature in 'Client-EmbeddedShellLauncher', 'Client-KeyboardFilter') {
  if (-not $Remove -and (Get-WindowsOptionalFeature -Online -FeatureName $feature).State -ne 'Enabled') {
    Enable-WindowsOptionalFeature -Online -FeatureName $feature -All -NoRestart | Out-Null
  }
}

$sid = (New-Object System.Security.Principal.NTAccount($User)).Translate([System.Security.Principal.SecurityIdentifier]).Value
$namespace = 'root\standardcimv2\embedded'
$launcher = "\\.\${namespace}:WESL_UserSetting"
# First, so that the account has its desktop where a later step fails. A second run finds no shell any more.
$shell = Get-WmiObject -Namespace $namespace -Class WESL_UserSetting -ErrorAction SilentlyContinue | Where-Object Sid -eq $sid
if ($Remove -and $shell) { ([wmiclass]$launcher).RemoveCustomShell($sid) | Out-Null }

$folder = (Get-CimInstance Win32_UserProfile | Where-Object SID -eq $sid).LocalPath
$hasProfile = $folder -and (Test-Path $folder)
$player = if ($hasProfile) { Join-Path $folder 'AppData\Local\Programs\signage-player\Signage Player.exe' }
if (-not $Remove -and -not ($player -and (Test-Path $player))) {
  throw "The account $User has no player; run its installer there first."
}

# Ctrl+Alt+Del stays: by it an administrator gets in. The filter is there once Windows has restarted.
$keys = Get-WmiObject -Namespace $namespace -Class WEKF_PredefinedKey -ErrorAction SilentlyContinue
foreach ($key in $keys | Where-Object Id -in 'Windows', 'Win+L', 'Ctrl+Esc', 'Shift+Ctrl+Esc', 'Alt+Tab', 'Alt+Esc') {
  $key.Enabled = -not $Remove
  $key.Put() | Out-Null
}

if ($hasProfile) {
  # Rules that block come from the firewall's alert where it was dismissed, and win over one that allows.
  Get-NetFirewallApplicationFilter | Where-Object Program -eq $player | Get-NetFirewallRule | Remove-NetFirewallRule

  # Task Manager, among others, runs any program. The registry of an account that is signed out has to be loaded.
  $hive = "HKEY_USERS\$sid"
  $isSignedOut = -not (Test-Path "Registry::$hive")
  if ($isSignedOut) {
    reg.exe load $hive (Join-Path $folder 'NTUSER.DAT') | Out-Null
    if ($LASTEXITCODE -ne 0) { throw "The registry of $User could not be loaded." }
  }
  try {
    foreach ($policy in 'DisableTaskMgr', 'DisableLockWorkstation', 'DisableChangePassword') {
      $key = "$hive\Software\Microsoft\Windows\CurrentVersion\Policies\System"
      reg.exe add $key /v $policy /t REG_DWORD /d ([int](-not $Remove)) /f | Out-Null
      if ($LASTEXITCODE -ne 0) { throw "The policy $policy of $User could not be set." }
    }
  } finally {
    if ($isSignedOut) { reg.exe unload $hive | Out-Null }
  }
}

if ($Remove) {
  # Under the launcher the player has removed itself from what starts with the login.
  Write-Output "The account $User has its desktop back; start the player once there, and it starts with the login again."
  return
}

New-NetFirewallRule -DisplayName 'Signage Player' -Direction Inbound -Program $player -Action Allow | Out-Null
# It starts the player again after each exit code (0). By the word after its path the player leaves that to the launcher.
$launcher = [wmiclass]$launcher
$launcher.SetDefaultShell('explorer.exe', 0) | Out-Null
$launcher.SetCustomShell($sid, "`"$player`" --supervised", $null, $null, 0) | Out-Null
$launcher.SetEnabled($true) | Out-Null
Write-Output "From its next login on, the account $User is the player and nothing else."
if (-not $keys) { Write-Output 'Restart Windows, and run this once more: only then can keys be locked.' }
